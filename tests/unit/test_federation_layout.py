"""The arrays of a federation are those of its cells, however its messages were read."""

from dataclasses import fields

import numpy as np
import pytest

import fedparity as fp

RANDOM = np.random.default_rng(4)


def messages(plan: fp.Plan, *, weighted: bool) -> list[fp.SiloSketch]:
    """Messages of silos of unlike sizes; one lacks a group, one withholds it."""
    sent = []
    for silo, size in enumerate([400, 37, 90, 15, 230]):
        groups = np.where(RANDOM.random(size) < 0.5, "A", "B")
        groups[: 5 * (silo == 2)] = "C"
        if silo == 3:
            groups[:] = "A"
        table = {"z": RANDOM.random(size), "g": groups}
        weight = {}
        if weighted:
            table["w"], weight = RANDOM.random(size) + 0.5, {"weight": "w"}
        sent.append(
            fp.sketch(
                table, plan=plan, silo=f"s{silo}", score="z", group="g", ledger=False, **weight
            )
        )
    return sent


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sketch", ["mean", "quantile"])
def test_messages_and_their_cells_give_the_same_arrays_bit_for_bit(sketch, weighted):
    plan = fp.Plan(
        title="T",
        groups=("A", "B", "C"),
        score_range=(0, 1),
        levels=20,
        sketch=sketch,
        thresholds=[0.4, 0.5],
    )
    sent = messages(plan, weighted=weighted)

    found = fp.Federation.from_messages(plan, sent)

    cells = {label: cell for each in sent for label, cell in each.released(plan).items()}
    expected = fp.Federation.from_cells(cells, groups=("A", "B"), score_range=(0.0, 1.0))
    for field in fields(fp.Federation):
        own, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "above":
            assert list(own) == list(other)
            own, other = np.array(list(own.values())), np.array(list(other.values()))
        if isinstance(other, np.ndarray):
            assert (own.dtype, own.tobytes()) == (other.dtype, other.tobytes()), field.name
        else:
            assert own == other


def test_a_result_keeps_the_cells_and_nothing_that_was_computed_of_them():
    plan = fp.Plan(title="T", groups=("A", "B", "C"), score_range=(0, 1), levels=20)
    result = fp.audit(plan, messages(plan, weighted=False))

    cells = result.federation

    assert not {"reconstructed", "pool", "_found"} & vars(cells).keys()
    assert cells.reconstructed.values.size > cells.values.size
