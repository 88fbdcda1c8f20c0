"""Rates at thresholds, their intervals, and four-fifths answers."""
