"""Records with outcomes: random federations of them, and their statistics record by record."""

from itertools import product

import numpy as np

from fedparity import Cell, Federation


def random_records(seed):
    """Scores in [0, 1], groups, silos and outcomes: continuous, rounded or with heavy ties."""
    random = np.random.default_rng(seed)
    n, silos = int(random.integers(30, 400)), int(random.integers(1, 5))
    groups = random.integers(0, int(random.integers(2, 4)), n)
    outcomes = random.random(n) < random.uniform(0.2, 0.8)
    scores = np.clip(random.beta(2, 3, n) + 0.2 * outcomes * random.random() + 0.1 * groups, 0, 1)
    digits = (None, 1, 2)[random.integers(0, 3)]
    if digits is not None:
        scores = np.round(scores, digits)
    return scores, groups, random.integers(0, silos, n), outcomes


def federations(records, *, levels, kind, thresholds=(), rounding=0.0):
    """Return the positives and the negatives as silos would release them; groups without both left out."""
    scores, groups, silos, outcomes = records
    cells = {True: {}, False: {}}
    for outcome, silo, group in product((True, False), np.unique(silos), np.unique(groups)):
        own = scores[(outcomes == outcome) & (silos == silo) & (groups == group)]
        if own.size:
            cells[outcome][f"silo {silo}", f"group {group}"] = cell_of(
                own, levels, kind, thresholds, rounding
            )
    common = sorted({group for _, group in cells[True]} & {group for _, group in cells[False]})
    return tuple(
        Federation.from_cells(
            {at: cell for at, cell in cells[outcome].items() if at[1] in common},
            groups=common,
            score_range=(0.0, 1.0),
        )
        for outcome in (True, False)
    )


def cell_of(scores, levels, kind, thresholds, rounding):
    cell = Cell.from_scores(scores, levels=min(levels, scores.size), kind=kind)
    values, error = cell.values, 0.0
    if rounding and kind != "counts":
        values, error = np.round(values / rounding) * rounding, rounding / 2 + 1e-12
    return Cell(
        count=cell.count,
        values=values,
        kind=kind,
        masses=cell.masses,
        value_error=error,
        mean_square=None if rounding else cell.mean_square,
        above={t: int(np.count_nonzero(scores >= t)) for t in thresholds},
    )


def true_area(positives, negatives):
    """The area under the curve, pair by pair."""
    above = positives[:, None] > negatives[None, :]
    ties = positives[:, None] == negatives[None, :]
    return float(np.mean(above + 0.5 * ties))


def true_rate(measure, scores, outcomes, threshold):
    """One of the five rates, from records; None where there is nothing to take the share of."""
    flagged = scores >= threshold
    one, whole = {
        "tpr": (flagged & outcomes, outcomes),
        "fpr": (flagged & ~outcomes, ~outcomes),
        "fnr": (~flagged & outcomes, outcomes),
        "ppv": (flagged & outcomes, flagged),
        "npv": (~flagged & ~outcomes, ~flagged),
    }[measure]
    return one.sum() / whole.sum() if whole.any() else None
