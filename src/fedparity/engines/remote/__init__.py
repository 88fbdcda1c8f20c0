"""An audit in which silos are asked over a network; whose network it is, an engine knows."""

ALLOWED = "FEDPARITY_SIMULATED_SILOS"
"""The variable without which no silo is simulated: else whoever starts a run could name the data of a
real node that has no settings. ``fedparity engine flower start flwr`` sets it, for its own processes."""
