"""PyG's face: layers that stand in front of any PyG model."""
