"""Functions of a federation say so when they get something else."""

import inspect

import numpy as np
import pandas as pd
import pytest

import fedparity as fp

FUNCTIONS = {
    name: function
    for module in (fp, fp.theory)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
    and next(iter(inspect.signature(function).parameters)) == "federation"
}
TABLE = {"z": np.linspace(0, 1, 40), "g": ["a", "b"] * 20, "s": ["x"] * 40}


@pytest.fixture(scope="module")
def others():
    """What people pass instead: a table, a message, a result."""
    plan = fp.Plan(title="t", groups=("a", "b"), score_range=(0, 1), levels=2)
    options = {"score": "z", "group": "g"}
    return [
        pd.DataFrame(TABLE),
        fp.sketch(TABLE, plan=plan, silo="x", **options, ledger=False),
        fp.simulate(TABLE, silo="s", **options, redraws=20),
        None,
    ]


def test_there_are_such_functions():
    assert {"assess", "at_threshold", "certify", "decompose", "pairs"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_object_is_named_with_what_to_do(name, others):
    for other in others:
        with pytest.raises(
            fp.errors.FederationError, match=f"^{name} takes a Federation, and got"
        ) as caught:
            FUNCTIONS[name](other)

        assert type(other).__name__ in str(caught.value)
        assert "from_scores" in str(caught.value)
