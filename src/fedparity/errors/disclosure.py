"""What a disclosure rule refuses to let out."""

from __future__ import annotations

from fedparity.errors.base import FedparityError

__all__ = ["DisclosureError", "LedgerError", "RuleError"]


class DisclosureError(FedparityError):
    """A disclosure rule refuses a release; the data themselves are fine."""


class RuleError(DisclosureError):
    """The silo's own policy refuses a plan, or what is to be released under it."""


class LedgerError(DisclosureError):
    """The local ledger refuses a second release, or cannot be relied on."""

    @classmethod
    def unreadable(cls, path: object, line: int, reason: str) -> LedgerError:
        return cls(
            f"line {line} of the ledger {path} {reason}.",
            fix="restore the file from a backup; without it, earlier releases cannot be known. See "
            "the how-to page on a lost ledger.",
        )

    @classmethod
    def out_of_reach(cls, path: object, reason: str) -> LedgerError:
        return cls(
            f"the ledger {path} cannot be opened or written: {reason}.",
            fix="make it readable and writable, or set FEDPARITY_LEDGER to the ledger's own file.",
        )

    @classmethod
    def busy(cls, path: object, seconds: float) -> LedgerError:
        return cls(
            f"another process has held the ledger {path} for more than {seconds:g} seconds.",
            fix="wait for it to end; if none is running, delete the file of the same name ending "
            "in .lock, if there is one.",
        )
