"""What became of every row of a table adds up, whatever the table, the filter and the labels."""

from collections import Counter

import pandas as pd
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import fedparity as fp
from fedparity.engines.pooled_table import read_pooled
from fedparity.silo.sketch import prepare
from fedparity.sketches.records import Faults

LABELS = ["A", "B", "X", "Y", "", None, "Unknown"]
PLAN = fp.Plan(
    title="Q4",
    groups=("A", "B", "unknown"),
    score_range=(0, 1),
    disclosure={"minimum_cell": 1, "records_per_level": 0, "rounding": 0},
)
rows = st.lists(
    st.tuples(
        st.sampled_from([None, 0.0, 0.25, 0.5, 1.0]),
        st.sampled_from(LABELS),
        st.integers(0, 4),
        st.sampled_from([0.0, 1.0, 2.0]),
        st.sampled_from(["north", "south"]),
    ),
    min_size=1,
    max_size=40,
)


def columns(table):
    return dict(
        zip(("z", "g", "age", "w", "silo"), map(list, zip(*table, strict=True)), strict=True)
    )


def written(table, kind):
    """The same table in several forms; missing entries are None, NaN, or of no characters."""
    frame = pl.DataFrame(columns(table), schema_overrides={"z": pl.Float64, "g": pl.String})
    return {
        "polars": lambda: frame,
        "pandas": lambda: pd.DataFrame(columns(table)),
        "lists": lambda: columns(table),
        "batches": lambda: iter([frame.head(3), frame.slice(3)] if len(frame) > 3 else [frame]),
    }[kind]()


READING = {"score": "z", "group": "g", "missing": "drop", "mapping": {"X": "B"}, "other": "A"}


def expected(table, *, weighted):
    """The same accounting, row by row."""
    counts, groups, renamed = Counter(), Counter(), Counter()
    for score, label, age, weight, _ in table:
        counts["read"] += 1
        if age < 2:
            counts["filtered"] += 1
            continue
        if score is None:
            counts["without_score"] += 1
            continue
        group = {"X": "B", "": "unknown", None: "unknown", "Unknown": "A", "Y": "A"}.get(
            label, label
        )
        if group != label:
            reason = "map" if label == "X" else "other" if label else "missing"
            renamed[label or None, group, reason] += 1
        if weighted and weight == 0:
            counts["weightless"] += 1
        else:
            groups[group] += 1
    return counts, groups, renamed


@given(rows, st.sampled_from(["polars", "pandas", "lists", "batches"]), st.booleans())
def test_every_row_is_counted_once(table, kind, weighted):
    """Look-alikes of a group are not sent to another one, so that the plan's own spelling is left out."""
    table = [row for row in table if row[1] != "Unknown"]
    counts, groups, renamed = expected(table, weighted=weighted)
    if not groups:
        return
    weight = {"weight": "w"} if weighted else {}

    release = prepare(
        written(table, kind), plan=PLAN, silo="s", where="age >= 2", **READING, **weight
    )

    found = release.rows
    assert (found.read, found.filtered) == (counts["read"], counts["filtered"])
    assert (found.without_score, found.weightless) == (
        counts["without_score"],
        counts["weightless"],
    )
    assert found.records == sum(groups.values()) == sum(release.records.values())
    assert found.relabeled == renamed
    assert release.sketch.rows_filtered == counts["filtered"]
    assert release.sketch.rows_dropped == counts["without_score"]


@given(rows)
def test_a_simulated_silo_says_what_the_silo_itself_would(table):
    """Filtered and dropped rows are counted in the silo that they are of."""
    table = [row for row in table if row[1] != "Unknown"]
    own = {name: [row for row in table if row[4] == name] for name in ("north", "south")}
    if not all(expected(part, weighted=False)[1] for part in own.values()):
        return

    pooled = read_pooled(
        written(table, "polars"), silo="silo", groups=PLAN.groups, where="age >= 2", **READING
    )

    for place, name in enumerate(pooled.silos):
        counts, groups, _ = expected(own[name], weighted=False)
        rows = pooled.records(place).accept(Faults())
        assert (rows.read, rows.filtered) == (counts["read"], counts["filtered"])
        assert (rows.without_score, rows.records) == (
            counts["without_score"],
            sum(groups.values()),
        )
