"""A silo's steps in a secure sum, and the state that it keeps between them."""
