"""Protocol: the plan, the message, their canonical bytes, digests and signatures."""
