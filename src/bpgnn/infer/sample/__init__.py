"""Three ways to draw the same latent graph."""
