"""Releasing: a silo's whole path, from its table to the message that leaves."""
