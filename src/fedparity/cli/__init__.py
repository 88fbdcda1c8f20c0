"""The command line: one front door of fedparity."""
