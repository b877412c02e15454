"""Data sets, own files, splits and perturbations: everything that makes a `Dataset`."""
