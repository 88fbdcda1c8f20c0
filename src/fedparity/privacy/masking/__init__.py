"""Masks that cancel in a sum: key agreement, streams, shared secrets, and numbers modulo 2^64."""
