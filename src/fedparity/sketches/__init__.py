"""Sketches: a law reduced to a count and k numbers, exactly and without sorting all records."""
