"""An audit in which silos are asked over a network; whose network it is, an engine knows."""
