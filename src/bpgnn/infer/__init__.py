"""From latent positions to a sampled graph: V, P, A ⋄ P, sample."""
