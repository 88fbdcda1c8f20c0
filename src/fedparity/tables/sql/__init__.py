"""Databases: tables and queries that are read in one read-only transaction."""
