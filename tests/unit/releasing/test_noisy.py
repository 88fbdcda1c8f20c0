"""What leaves a silo under a plan with noise: noisy counts, and nothing else that depends on data."""

import pickle

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.noise import LaplaceMechanism
from fedparity.silo.sketch import prepare, preview


def asked(**changes):
    options = {
        "title": "visits",
        "groups": ("A", "B", "C"),
        "score_range": (0, 1),
        "privacy": {"mode": "dp", "epsilon": 1, "bins": 8},
    }
    return fp.Plan(**{**options, **changes})


def table(rows=600, seed=0):
    random = np.random.default_rng(seed)
    return {"score": random.random(rows), "group": random.choice(["A", "B"], rows)}


@pytest.fixture
def silent(monkeypatch):
    """Noise that is zero: what the message would be made of."""
    monkeypatch.setattr(LaplaceMechanism, "release", lambda _, counts: counts)


def sketched(data, plan, **options):
    return fp.sketch(data, plan=plan, silo="north", ledger=False, **options)


@pytest.mark.usefixtures("silent")
def test_without_its_noise_a_message_holds_the_counts():
    data = table()

    message = sketched(data, asked())

    own = data["score"][data["group"] == "A"]
    assert message.cells[0].values.tolist() == np.histogram(own, np.linspace(0, 1, 9))[0].tolist()
    assert message.cells[0].count == own.size


@pytest.mark.usefixtures("silent")
def test_every_group_of_the_plan_is_in_the_message_with_or_without_records():
    message = sketched(table(), asked())

    assert message.groups == ("A", "B", "C")
    assert message.cells[2].withheld == "small"


def test_a_cell_is_withheld_by_its_noisy_count_alone(monkeypatch):
    """Neither does a true count below the minimum withhold a cell, nor one above release it."""
    monkeypatch.setattr(
        LaplaceMechanism, "release", lambda _, counts: counts + np.array([[-90], [0], [9]])
    )

    message = sketched(table(), asked())

    assert [cell.withheld for cell in message.cells] == ["small", None, None]
    assert message.cells[2].count == 72


@pytest.mark.usefixtures("silent")
def test_rows_that_were_left_out_are_not_counted_in_the_message():
    """Neighboring tables, one with a row without a score, give the same message."""
    data = table()
    gaps = {
        name: np.append(values, last)
        for (name, values), last in zip(data.items(), (np.nan, "A"), strict=True)
    }

    assert (
        sketched(gaps, asked(), missing="drop").to_bytes()
        == sketched(data, asked(), missing="drop").to_bytes()
    )


@pytest.mark.usefixtures("silent")
def test_one_record_changes_one_number_by_one():
    """The sensitivity that epsilon rests on, over the whole message."""
    data = table()
    fewer = {name: values[1:] for name, values in data.items()}
    plan = asked(disclosure={"minimum_cell": 1})

    changed = [
        abs(mine - other)
        for cell, without in zip(
            sketched(data, plan).cells, sketched(fewer, plan).cells, strict=True
        )
        for mine, other in zip(cell.values, without.values, strict=True)
    ]

    assert sum(changed) == 1


def test_the_message_states_what_was_done():
    guarantee = sketched(table(), asked()).guarantee

    assert guarantee["mode"] == "dp"
    assert guarantee["epsilon"] == 1.0
    assert guarantee["unit"] == "one record, add or remove"
    assert guarantee["mechanism"] == "discrete Laplace"
    assert guarantee["scale"] == 1.0
    assert guarantee["library"].startswith("opendp ")


def test_noise_is_drawn_anew_and_no_seed_can_repeat_it():
    np.random.seed(0)  # noqa: NPY002 -- a seed that must not matter
    first = sketched(table(), asked())
    np.random.seed(0)  # noqa: NPY002
    second = sketched(table(), asked())

    assert first.cells != second.cells


@pytest.mark.usefixtures("silent")
def test_weights_are_refused():
    data = {**table(), "w": np.ones(600)}

    with pytest.raises(fp.errors.PrivacyError, match="weights cannot be released"):
        sketched(data, asked(), weight="w")
    with pytest.raises(fp.errors.PrivacyError, match="weights cannot be released"):
        fp.Sketcher(plan=asked(), silo="north", weight="w")


def test_a_secure_plan_is_not_answered_with_a_sketch_of_one_silo():
    plan = asked(silos=["north", "s", "t"], privacy={"mode": "secure"})

    with pytest.raises(fp.errors.PrivacyError, match="never sends a sketch of its own"):
        sketched(table(), plan)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"score": [0.5] * 599 + [1.5]}, fp.errors.ScoreError),
        ({"score": [0.5] * 599 + [np.nan]}, fp.errors.TableError),
        ({"group": ["A"] * 599 + ["Z"]}, fp.errors.TableError),
    ],
)
def test_a_refusal_holds_no_exact_number_and_no_label(changes, error):
    with pytest.raises(error) as caught:
        sketched({**table(), **changes}, asked())

    message = caught.value.message.replace("between 0 and 1", "")
    assert not any(character.isdigit() for character in message)
    assert "'Z'" not in str(caught.value)


def test_a_preview_draws_no_noise_and_keeps_no_number(monkeypatch):
    def forbidden(*_):
        raise AssertionError

    monkeypatch.setattr(LaplaceMechanism, "release", forbidden)

    shown = preview(table(), plan=asked(), silo="north")

    assert shown.deviation == pytest.approx(1.357, abs=1e-3)
    assert shown.count_deviation == pytest.approx(shown.deviation * 8**0.5)
    assert pickle.dumps(shown) == pickle.dumps(preview(table(400, 1), plan=asked(), silo="north"))


def test_a_preview_finds_what_a_release_would_refuse():
    with pytest.raises(fp.errors.ScoreError):
        preview({"score": [2.0], "group": ["A"]}, plan=asked(), silo="north")


def test_a_release_keeps_no_true_number():
    release = prepare(table(), plan=asked(), silo="north")

    assert release.records == {}
    assert release.decisions["C"].reasons in (
        (),
        ("fewer than 11 records once noise was added",),
    )


@pytest.mark.usefixtures("silent")
def test_a_sketcher_counts_batches_and_draws_once():
    data = table()
    sketcher = fp.Sketcher(plan=asked(), silo="north", ledger=False)
    other = fp.Sketcher(plan=asked(), silo="north", ledger=False)
    for start in range(0, 600, 100):
        batch = {name: values[start : start + 100] for name, values in data.items()}
        (sketcher if start % 200 else other).update(batch)
    sketcher.merge(pickle.loads(pickle.dumps(other)))  # noqa: S301

    message = sketcher.finish()

    assert message.to_bytes() == sketched(data, asked()).to_bytes()
    assert sketcher.finish() is message
    with pytest.raises(fp.errors.PrivacyError, match="drawn already"):
        sketcher.update(data)
    with pytest.raises(fp.errors.PrivacyError, match="drawn already"):
        other.merge(sketcher)


def test_a_sketcher_spends_once(tmp_path):
    sketcher = fp.Sketcher(plan=asked(), silo="north", ledger=tmp_path / "l.jsonl")
    sketcher.update(table())
    copied = pickle.loads(pickle.dumps(sketcher))  # noqa: S301

    sketcher.finish()

    with pytest.raises(fp.errors.LedgerError):
        copied.finish()
