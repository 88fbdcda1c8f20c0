"""Five synthetic hospitals: nearly at parity one by one, and not together."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.protocol.plan import Plan

__all__ = ["Hospital", "demo_plan", "hospitals"]

_NAMES = ("Aurora", "Bayside", "Cedar", "Dunmore", "Elm Park")
_SEVERITY = (1.5, 2.5, 3.5, 4.5, 6.0)
"""First parameter of each hospital's Beta law, the same for both groups; scores are 0 to 10."""
_COUNTS = {"A": (1900, 1500, 1000, 600, 300), "B": (300, 600, 1000, 1500, 1900)}
"""Group A is mostly seen where cases are mild, group B where they are severe."""


@dataclass(frozen=True, eq=False)
class Hospital:
    """One hospital's records."""

    name: str
    scores: FloatArray
    groups: Sequence[str]

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.lower().replace(" ", "-")

    @property
    def table_file(self) -> str:
        """Its records, which never leave."""
        return f"{self.folder}/patients.csv"

    @property
    def ledger_file(self) -> str:
        """Its record of what left."""
        return f"{self.folder}/ledger.jsonl"

    @property
    def message_file(self) -> str:
        """What it sends, where the auditor keeps it."""
        return f"inbox/{self.folder}.sketch.json"

    def table(self) -> bytes:
        """Return the records as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("patient", "group", "risk"))
        for number, (group, score) in enumerate(zip(self.groups, self.scores, strict=True)):
            rows.writerow((f"{self.name[0]}{number:05}", group, f"{score:.4f}"))
        return text.getvalue().encode()


def hospitals(seed: int) -> list[Hospital]:
    """Return hospitals in which the group plays no part once the hospital is known."""
    random = np.random.default_rng(seed)
    made = {
        (group, name): np.round(10 * random.beta(severity, 4.0, count), 4)
        for group, counts in _COUNTS.items()
        for name, severity, count in zip(_NAMES, _SEVERITY, counts, strict=True)
    }
    return [
        Hospital(
            name,
            np.concatenate([made[group, name] for group in _COUNTS]),
            [group for group in _COUNTS for _ in made[group, name]],
        )
        for name in _NAMES
    ]


def demo_plan(levels: int) -> Plan:
    """Return the plan that the five hospitals agreed on."""
    return Plan(
        title="Readmission risk of five hospitals",
        groups=tuple(_COUNTS),
        score_range=(0.0, 10.0),
        levels=levels,
        thresholds=(5.0,),
        favorable="below",
        review_level=0.5,
        silos=_NAMES,
    )
