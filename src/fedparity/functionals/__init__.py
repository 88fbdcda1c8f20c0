"""Distances, barycenters and disparities: one symbol of the paper per file."""
