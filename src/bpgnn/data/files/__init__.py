"""People's own files: tables of nodes and edges, GraphML and arrays."""
