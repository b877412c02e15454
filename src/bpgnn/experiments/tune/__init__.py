"""The search for settings, by validation data alone."""
