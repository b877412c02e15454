"""Scikit-learn's face."""
