"""Small random federations of all kinds, with the records behind them."""

import math

import numpy as np

import fedparity as fp

SHAPES = {
    "uniform": lambda random, n: random.random(n),
    "quarters": lambda random, n: random.integers(0, 5, n) / 4,
    "tenths": lambda random, n: np.round(random.random(n), 1),
    "ends": lambda random, n: random.beta(0.3, 0.3, n),
    "constant": lambda random, n: np.full(n, random.choice([random.random(), 0.5])),
    "coin": lambda random, n: random.integers(0, 2, n) * 1.0,
}


def random_data(random, most_groups=4):
    """Scores in [0, 1], groups and silos of a small federation; every group has a record.

    Groups may have different shapes: one spread out and one constant use a bound up.
    """
    groups = int(random.integers(2, most_groups + 1))
    size = int(random.integers(groups, 60))
    labels = random.integers(0, groups, size)
    labels[:groups] = np.arange(groups)
    scores = np.empty(size)
    same = random.choice(list(SHAPES))
    for group in range(groups):
        shape = same if random.random() < 0.5 else random.choice(list(SHAPES))
        own = labels == group
        scores[own] = SHAPES[shape](random, int(own.sum()))
    return scores, labels, random.integers(0, random.integers(1, 6), size)


def inexact_cell(scores, levels, kind, rank_error, random):
    """A cell whose ranks are off by up to ``rank_error``, as a stream's sketch is."""
    law = fp.Law.from_scores(scores)
    steps = np.arange(levels + 1) / levels if kind == "mean" else fp.theory.midpoints(levels)
    moved = np.clip(np.sort(steps + random.uniform(-rank_error, rank_error, steps.size)), 0, 1)
    if kind == "quantile":
        values = law.quantile(np.maximum(moved, 1e-12))
    else:
        moved[0], moved[-1] = 0.0, 1.0
        left, right = moved[:-1], np.maximum(moved[1:], moved[:-1] + 1e-9)
        values = (integral(law, right) - integral(law, left)) / (right - left)
        values = np.clip(np.maximum.accumulate(values), 0, 1)
    return fp.Cell(count=len(scores), values=values, kind=kind, rank_error=rank_error)


def integral(law, levels):
    """The integral of the quantile function up to each level."""
    running = np.concatenate(([0.0], np.cumsum(law.atoms * law.masses)))
    at = np.searchsorted(law.cumulative, np.minimum(levels, 1.0), side="left")
    before = np.concatenate(([0.0], law.cumulative))[at]
    return running[at] + law.atoms[at] * (np.minimum(levels, 1.0) - before)


def rounded_cell(cell, random):
    """The cell with values rounded, mean squares stated, rounded or left out."""
    step = float(random.choice([0.0, 0.01, 0.1, 0.4]))
    values = np.clip(np.round(cell.values / step) * step, 0, 1) if step else cell.values
    if cell.kind != "mean":
        return fp.Cell(
            count=cell.count,
            values=values,
            masses=cell.masses,
            kind=cell.kind,
            value_error=np.abs(values - cell.values) if random.random() < 0.5 else step / 2,
        )
    square = cell.mean_square + float(np.mean((values - cell.values) ** 2))
    coarse = float(random.choice([0.0, 0.001, 0.05]))
    return fp.Cell(
        count=cell.count,
        values=values,
        kind="mean",
        value_error=np.abs(values - cell.values) if random.random() < 0.5 else step / 2,
        mean_square=max(0.0, square + random.uniform(-coarse, coarse))
        if random.random() < 0.8
        else None,
        mean_square_error=coarse,
    )


def sketched(scores, labels, silos, random):
    """The federation of the data, of both kinds, with different k, with ranks exact or not."""
    kind = random.choice(["quantile", "mean"])
    return _federation(scores, labels, silos, random, kind=kind)


def disclosed(scores, labels, silos, random):
    """The same of all kinds, with values and mean squares rounded or left out."""
    kind = random.choice(["quantile", "mean", "mean", "counts"])
    federation = _federation(scores, labels, silos, random, kind=kind)
    if federation.rank_errors.any():
        return federation
    return fp.Federation.from_cells(
        {key: rounded_cell(cell, random) for key, cell in federation.cells.items()}
    )


def _federation(scores, labels, silos, random, *, kind):
    rank_error = 0.0 if kind == "counts" else float(random.choice([0.0, 0.0, 0.02, 0.1]))
    one_size = int(random.integers(1, 13))
    cells = {}
    for silo, group in {*zip(silos.tolist(), labels.tolist(), strict=True)}:
        own = scores[(silos == silo) & (labels == group)]
        levels = one_size if random.random() < 0.7 else int(random.integers(1, 13))
        if rank_error:
            cells[silo, group] = inexact_cell(own, levels, kind, rank_error, random)
        else:
            cells[silo, group] = fp.Cell.from_scores(own, levels=levels, kind=kind)
    return fp.Federation.from_cells(cells)


def with_hidden(scores, labels, federation, random):
    """All records, of which the federation has seen some; and what is known of the others."""
    most = {group: int(random.integers(0, 20)) for group in federation.groups}
    total = int(random.integers(0, sum(most.values()) + 1))
    count = int(random.integers(0, total + 1)) if random.random() < 0.5 else total
    belongs = [group for group in most for _ in range(most[group])]
    if random.random() < 0.5:
        random.shuffle(belongs)
    hidden = belongs[:count]
    where = random.choice([0.0, 0.3, 1.0], count, p=random.dirichlet([0.3, 0.3, 0.3]))
    if random.random() < 0.3:
        most = dict.fromkeys(most, math.inf)
    return np.append(scores, where), [*labels.tolist(), *hidden], most, total


def hardest_hidden(scores, labels, groups, total, *, order, most):
    """Scores and groups of ``total`` records that drive the disparity up (``most``) or down.

    One record after the other, wherever it does most, or none where every one goes the wrong way.
    """
    places = np.unique(np.concatenate(([0.0, 0.5, 1.0], scores)))
    everyone, of = scores.tolist(), labels.tolist()
    reached = fp.disparity(everyone, sensitive_features=of, order=order)
    for _ in range(total):
        found = [
            (fp.disparity([*everyone, x], sensitive_features=[*of, g], order=order), x, g)
            for x in places.tolist()
            for g in groups
        ]
        value, place, group = (max if most else min)(found)
        if (value > reached) != most:
            break
        reached = value
        everyone.append(place)
        of.append(group)
    return reached
