"""Run the command line as ``python -m fedparity``."""

from fedparity.cli.main import main

if __name__ == "__main__":
    main()
