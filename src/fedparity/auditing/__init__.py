"""From the messages of the silos to the result of an audit."""
