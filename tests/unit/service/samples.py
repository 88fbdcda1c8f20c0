"""A collector with a study of three silos, and their messages."""

import numpy as np

import fedparity as fp
from fedparity.modes.mode import mode_of
from fedparity.sketches.records import ArrayRecords

SILOS = ("aurora", "bayside", "cedar")


def plan(**options):
    stated = {"title": "Readmission", "groups": ("A", "B"), "score_range": (0, 1)}
    return fp.Plan(**stated | {"silos": SILOS, "review_level": 0.05} | options)


def message(silo, seed=0, agreed=None):
    """Return the bytes of a message; no ledger remembers it, so that there may be several of one silo."""
    random = np.random.default_rng([seed, *silo.encode()])
    asked = agreed or plan()
    records = ArrayRecords(asked.groups, random.random(400), random.integers(0, 2, 400), None)
    return mode_of(asked).release(records, silo).sketch.to_bytes()
