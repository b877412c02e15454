"""Why a latent edge is there, and what a prediction rests on."""
