"""Exact sketches without sorting: count buckets, keep those that hold a wanted rank, sort those."""
