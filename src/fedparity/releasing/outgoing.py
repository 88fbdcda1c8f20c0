"""A release as it leaves: the message, what only the operator may see, and the entry in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fedparity.laws.labels import Group
from fedparity.privacy.decisions import Decision
from fedparity.protocol.files import Path
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.signature import sign
from fedparity.releasing.measuring import Way
from fedparity.releasing.permit import Permit

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["How", "Release"]


@dataclass(frozen=True, kw_only=True)
class How:
    """How a sketch was computed: for the operator, and of no effect on the result."""

    way: Way
    kernel: str
    passes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What would leave a silo, with what only its operator may see."""

    sketch: SiloSketch
    """The message: all that leaves."""
    decisions: Mapping[Group, Decision]
    """What the disclosure rules decided for each group, and why."""
    records: Mapping[Group, int]
    """True numbers of records; they stay in the building. Empty in a privacy mode."""
    how: How

    @property
    def digest(self) -> str:
        """The digest that the ledger keeps: of the message, whoever signed it with which version."""
        return self.sketch.content_digest

    def signed(self, key: Ed25519PrivateKey) -> Release:
        """Return the same release with its message signed."""
        return replace(self, sketch=sign(self.sketch, key))

    def replacing(self, message: str | None) -> Release:
        """Return the same release, said to stand for a message that was voided."""
        return (
            self
            if message is None
            else replace(self, sketch=replace(self.sketch, replaces=message))
        )

    def write(self, path: Path, *, permit: Permit | None, force: bool = False) -> None:
        """Enter the release into the ledger and write its message, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or cannot be written.
        RuleError, LedgerError, BudgetError
            If the silo's own rules refuse it; see :class:`~fedparity.releasing.permit.Permit`.
        """
        if permit is None:
            self.sketch.write(path, force=force)
            return
        permit.write(
            path,
            self.sketch.to_bytes(),
            release=self.digest,
            message=self.sketch.digest,
            replaces=self.sketch.replaces,
            force=force,
        )

    def record(self, permit: Permit) -> None:
        """Enter the release into the ledger, before anybody else sees its message.

        Raises
        ------
        RuleError, LedgerError, BudgetError
            As :meth:`write`.
        """
        sketch = self.sketch
        with permit.commit(self.digest, sketch.digest, replaces=sketch.replaces):
            pass
