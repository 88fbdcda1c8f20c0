"""Rates at a threshold know of the records that nobody described."""

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare


def audited(total: int | None) -> fp.AuditResult:
    """Two silos answer, of which one withholds a cell; a third one of known size does not."""
    plan = fp.Plan(
        title="threshold",
        groups=("A", "B"),
        score_range=(0, 1),
        levels=10,
        silos=("north", "south", "west") if total else ("north", "south"),
        disclosure=Disclosure(minimum_cell=11, records_per_level=0, rounding=0.0),
        totals={} if total is None else {"west": total},
    )
    tables = {
        "north": {"score": [0.2, 0.8] * 100, "group": ["A", "B"] * 100},
        "south": {"score": [0.4, 0.6] * 100, "group": ["A"] * 190 + ["B"] * 10},
    }
    sketches = [prepare(table, plan=plan, silo=silo).sketch for silo, table in tables.items()]
    return fp.audit(plan, sketches, redraws=20)


def widths(result: fp.AuditResult, of: str = "all") -> dict[str, float]:
    rates = result.at_threshold(0.5, of=of).groups
    return {rate.group: rate.rate.upper - rate.rate.lower for rate in rates}


def test_a_withheld_cell_widens_the_brackets_of_its_group_only():
    found = widths(audited(None))

    assert found["B"] >= 10 / 110
    assert found["A"] < found["B"]


def test_a_silent_silo_widens_the_brackets_of_every_group():
    alone, missing = widths(audited(None)), widths(audited(300))

    assert all(missing[group] > alone[group] for group in alone)
