from hypothesis import settings

# A shared machine may be slow for a moment; that is no failure.
settings.register_profile("bpgnn", deadline=None)
settings.load_profile("bpgnn")
