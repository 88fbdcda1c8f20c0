"""From the messages of a secure sum to the result of an audit."""
