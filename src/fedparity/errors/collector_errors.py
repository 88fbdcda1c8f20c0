"""Errors between silos, auditors and a collector."""

from __future__ import annotations

from fedparity.errors.base import FedparityError, InputError

__all__ = ["CollectorUnreachableError", "ConflictError", "NotAllowedError"]


class CollectorUnreachableError(InputError):
    """A collector that does not answer, or not as one."""


class ConflictError(InputError):
    """A message of a silo where another one is already."""


class NotAllowedError(FedparityError):
    """A collector that does not know who asks, or does not let them."""
