"""The one training loop, with stopping, checkpoints and records."""
