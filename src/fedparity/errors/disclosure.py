"""What a disclosure rule refuses to let out."""

from __future__ import annotations

from fedparity.errors.base import FedparityError

__all__ = ["DisclosureError", "LedgerError"]


class DisclosureError(FedparityError):
    """A disclosure rule refuses a release; the data themselves are fine."""


class LedgerError(DisclosureError):
    """The local ledger refuses a second release, or cannot be relied on."""

    @classmethod
    def another_release(cls, path: object, *, silo: str, plan: str, time: str) -> LedgerError:
        return cls(
            f"silo {silo!r} already made another release under plan {plan} on {time}; "
            "the difference of two releases can reveal a single record.",
            fix="send the file of the first release again, or ask for a new plan; if it never "
            f"left the building, delete its line from {path}.",
        )

    @classmethod
    def torn(cls, path: object, line: int) -> LedgerError:
        return cls(
            f"the last line of the ledger {path}, line {line}, was not written to its end.",
            fix="find out whether that release left the building; then complete its line, or delete it.",
        )

    @classmethod
    def unreadable(cls, path: object, line: int) -> LedgerError:
        return cls(
            f"line {line} of the ledger {path} is not an entry of a release.",
            fix="restore the file from a backup; without it, earlier releases cannot be known.",
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

    @classmethod
    def no_home(cls) -> LedgerError:
        return cls(
            "this user has no home folder in which to keep the ledger.",
            fix="set FEDPARITY_LEDGER to a file that persists between releases.",
        )
