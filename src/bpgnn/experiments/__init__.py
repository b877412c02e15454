"""Which runs make which table, running them, and keeping what came out."""
