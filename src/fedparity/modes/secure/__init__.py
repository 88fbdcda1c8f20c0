"""The messages of a secure sum, and what each must fit."""
