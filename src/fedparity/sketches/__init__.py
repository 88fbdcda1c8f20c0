"""Sketches: a law reduced to a count and k numbers, and what k numbers can say."""
