"""Networks that several methods are made of."""
