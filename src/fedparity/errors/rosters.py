"""Silos that were expected and sent nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fedparity.errors.base import FedparityError, listed
from fedparity.errors.remote import reasons_given

__all__ = ["MissingSiloError"]


class MissingSiloError(FedparityError):
    """A silo of the roster sent nothing, where it was required."""

    @classmethod
    def required(cls, missing: Collection[str], roster: int) -> MissingSiloError:
        return cls(
            f"{len(missing):,} of the {roster:,} silos of the plan sent no message: "
            f"{listed(missing)}.",
            fix="ask them for it, or leave out --require-all to go on without them.",
        )

    @classmethod
    def not_connected(
        cls, there: int, needed: int, roster: int, absent: Collection[str]
    ) -> MissingSiloError:
        names = f" Not heard of: {listed(absent)}." if absent else ""
        return cls(
            f"{there:,} of the {roster:,} silos of the plan are connected, and {needed:,} are needed, "
            f"so nobody was asked.{names}",
            fix="start the nodes that are missing and run the audit again, with a longer wait if they "
            "need it; or lower quorum.",
        )

    @classmethod
    def below_quorum(
        cls, came: int, quorum: int, roster: int, reasons: Mapping[str, str]
    ) -> MissingSiloError:
        return cls(
            f"{came:,} of the {roster:,} silos of the plan answered, and the quorum is {quorum:,}: "
            f"{reasons_given(reasons)}.",
            fix="see what each of them says in its own log, then run the audit again with a new "
            "plan or with again = true in the settings of those that answered; or lower quorum.",
        )
