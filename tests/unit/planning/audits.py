"""Audits of raw records, by the public API only: what a plan is checked against."""

import numpy as np

import fedparity as fp

KINDS = ("quantile", "mean")
ESTIMATORS = ("grid", "exact")
EQUAL = (0.5, 0.5)


def labels(silos, counts):
    """The group and silo of each record: counts[s] records of group s in every silo."""
    groups = np.repeat(np.arange(len(counts)), [silos * count for count in counts])
    places = np.concatenate([np.repeat(np.arange(silos), count) for count in counts])
    return groups, places


def fresh_audits(audits, *, strength, silos, records, levels, seed):
    """Estimates from raw Beta records, by the public API only."""
    random = np.random.default_rng(seed)
    groups, places = labels(silos, (records, records))
    estimates = []
    for _ in range(audits):
        low = random.beta(3, 4, silos * records)
        high = random.beta(3 + 3 * strength, 4, silos * records)
        federation = fp.Federation.from_scores(
            np.concatenate([low, high]), groups=groups, silos=places, levels=levels
        )
        estimates.append(fp.theory.estimate(federation).disparity)
    return np.array(estimates)
