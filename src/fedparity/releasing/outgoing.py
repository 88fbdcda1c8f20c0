"""A release as it leaves: the message, what only the operator may see, and the entry in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fedparity.laws.labels import Group
from fedparity.privacy.decisions import Decision
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.spending import Spending
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.digests import digest_of
from fedparity.protocol.files import Path, refuse_existing
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.signature import sign
from fedparity.releasing.measuring import Way

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
    spending: Spending | None = None
    """What it costs, where noise was added."""

    @property
    def digest(self) -> str:
        """The digest that the ledger keeps: of the message, whoever signed it with which version."""
        document = self.sketch.to_dict()
        for name in ("software", "signature"):
            document.pop(name, None)
        return digest_of(canonical_bytes(document))

    def signed(self, key: Ed25519PrivateKey) -> Release:
        """Return the same release with its message signed."""
        return replace(self, sketch=sign(self.sketch, key))

    def write(self, path: Path, *, ledger: Ledger | None, force: bool = False) -> None:
        """Enter the release into the ledger and write its message, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or cannot be written.
        LedgerError
            If another release of this silo under this plan is on record.
        BudgetError
            If it costs more than is left of the data set's budget.
        """
        self.sketch.to_bytes()  # what can fail should do so before the ledger is touched
        if not force:
            refuse_existing(path)
        if ledger is None:
            self.sketch.write(path, force=force)
            return
        with ledger.commit(
            self.sketch.plan, self.sketch.silo, self.digest, spending=self.spending
        ):
            self.sketch.write(path, force=force)

    def record(self, ledger: Ledger) -> None:
        """Enter the release into the ledger, before anybody else sees its message.

        Raises
        ------
        LedgerError, BudgetError
            As :meth:`write`.
        """
        ledger.record(self.sketch.plan, self.sketch.silo, self.digest, spending=self.spending)
