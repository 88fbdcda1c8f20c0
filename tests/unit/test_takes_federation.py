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


def test_messages_make_the_federation_that_an_audit_measures():
    plan = fp.Plan(title="t", groups=("b", "a", "c"), score_range=(0, 1), levels=2)
    table = TABLE | {"g": ["a", "b", "a", "b"] * 9 + ["c"] * 4}
    message = fp.sketch(table, plan=plan, silo="x", score="z", group="g", ledger=False)

    federation = fp.Federation.from_messages(plan, [message])

    assert federation.groups == ("b", "a")  # c has too few records to be released
    found = fp.audit(plan, [message], redraws=20)
    assert fp.theory.estimate(federation).disparity == found.disparity.value


def test_a_table_without_silos_is_one_silo():
    options = {"score": "z", "group": "g", "redraws": 20}

    result = fp.simulate(TABLE, **options)

    assert result.silos_received == ("all",)
    assert result.disparity.value == fp.simulate(TABLE, silo="s", **options).disparity.value
