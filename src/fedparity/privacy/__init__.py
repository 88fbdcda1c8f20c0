"""Privacy: what may leave a silo, and the record of what did."""
