import os
from pathlib import Path

from hypothesis import settings

# A shared machine may be slow for a moment; that is no failure.
settings.register_profile("bpgnn", deadline=None)
settings.load_profile("bpgnn")

# Some tests work in a folder of their own, from which a relative path would lead elsewhere.
if os.environ.get("BPGNN_DATA"):
    os.environ["BPGNN_DATA"] = str(Path(os.environ["BPGNN_DATA"]).resolve())
