"""The tables and figures of the paper, rebuilt beside the numbers that it prints."""

__version__ = "0.1.0"
