"""Silos that were expected and sent nothing."""

from __future__ import annotations

from collections.abc import Collection

from fedparity.errors.base import FedparityError, listed

__all__ = ["MissingSiloError"]


class MissingSiloError(FedparityError):
    """A silo of the roster sent nothing, where all were required."""

    @classmethod
    def required(cls, missing: Collection[str], roster: int) -> MissingSiloError:
        return cls(
            f"{len(missing):,} of the {roster:,} silos of the plan sent no message: "
            f"{listed(missing)}.",
            fix="ask them for it, or leave out --require-all to go on without them.",
        )
