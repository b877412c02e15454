"""Trainings shown in the tools that people have already."""
