"""Run ``python -m fedparity_reproduction`` like ``fedparity-reproduce``."""

from fedparity_reproduction.command import main

main()
