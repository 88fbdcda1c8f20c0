"""What a privacy mode does: plain sketches, noise, secure sums."""
