"""Trials on one table: silos made from it, as the paper makes them."""
