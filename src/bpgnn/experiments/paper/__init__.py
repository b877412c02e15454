"""The experiments of the BPGNN paper and those beyond it, one file each."""
