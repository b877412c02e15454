"""`python -m bpgnn` is `bpgnn`."""

from bpgnn.cli import main

if __name__ == "__main__":
    main()
