"""An audit whose requests to the silos travel over a network; an engine adapts one network to it."""

ALLOWED = "FEDPARITY_SIMULATED_SILOS"
"""The variable without which no silo is simulated: otherwise the person who starts a run could name the
data of a real node that has no settings. ``fedparity engine flower start flwr`` sets it, for its own processes."""
