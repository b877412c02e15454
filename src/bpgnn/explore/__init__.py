"""A page to look at a latent graph: its nodes, its edges, and the witnesses of every edge."""
