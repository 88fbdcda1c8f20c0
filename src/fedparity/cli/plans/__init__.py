"""The commands of ``fedparity plan``."""
