"""What training makes small: classification, graph reward, smoothness."""
