"""Message passing that PyG lacks, and nothing more."""
