"""Engines: where the silos of an audit run."""
