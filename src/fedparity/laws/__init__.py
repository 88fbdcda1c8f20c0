"""Laws on the line: what a score distribution is, before anything is asked of it."""
