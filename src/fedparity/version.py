"""The version, and how messages and results name the program that wrote them."""

__all__ = ["SOFTWARE", "__version__"]

__version__ = "0.1.0"

SOFTWARE = f"fedparity {__version__}"
