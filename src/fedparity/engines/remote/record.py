"""What happened while silos were asked: kept beside the result, for whoever asks later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fedparity.version import SOFTWARE

__all__ = ["Record"]


@dataclass(eq=False)
class Record:
    """Who was asked for what, what came of it, and after how many seconds.

    Examples
    --------
    >>> record = Record("sha256:1f", quorum=2)
    >>> record.enter("sketch", "7", "aurora", "answered", 1.234)
    >>> record.to_dict()["asked"][0]["seconds"]
    1.23
    """

    plan: str
    quorum: int
    asked: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = "not finished"

    def enter(self, step: str, node: str, silo: str | None, outcome: str, seconds: float) -> None:
        """Enter what came of one request."""
        self.asked.append(
            {
                "step": step,
                "node": node,
                "silo": silo,
                "outcome": outcome,
                "seconds": round(seconds, 2),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it."""
        return {
            "schema": "fedparity/exchange/1",
            "plan": self.plan,
            "quorum": self.quorum,
            "outcome": self.outcome,
            "asked": self.asked,
            "software": SOFTWARE,
        }
