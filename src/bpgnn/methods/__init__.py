"""One file for each method; no method knows another."""
