"""The report as one self-contained page: it needs no network, and opens anywhere."""
