"""What noise in histograms does to every measure of an audit."""
