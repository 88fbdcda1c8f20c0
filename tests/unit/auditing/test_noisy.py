"""An audit of noisy histograms: the same fields, wider errors, and the noise said."""

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import fedparity as fp
from fedparity.documents.json_text import schema
from fedparity.documents.result_parts import Verdicts
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import LaplaceMechanism, NoiseLaw
from fedparity.uncertainty.noisy_assessment import noise_rank_errors
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

SILOS = ["east", "north", "west"]


def asked(**changes):
    terms = {"mode": "dp", "epsilon": 1.0, "bins": 32, **changes.pop("privacy", {})}
    options = {"title": "Q4", "groups": ("A", "B"), "score_range": (0, 1), "silos": SILOS}
    return fp.Plan(**{**options, **changes, "privacy": terms})


def table(rows=3000, seed=0, shift=2.0):
    random = np.random.default_rng(seed)
    group = random.choice(["A", "B"], rows)
    score = np.where(group == "A", random.beta(3, 4, rows), random.beta(3 + shift, 4, rows))
    return {"score": score, "group": group, "silo": random.choice(SILOS, rows)}


def audited(plan, data, **options):
    return fp.simulate(data, silo="silo", plan=plan, **{"redraws": 60, **options})


def said(result, code):
    """The sentence of a warning, by its code."""
    return " ".join(warning.text for warning in result.warnings if warning.code == code)


@pytest.fixture
def silent(monkeypatch):
    """Noise that is zero in every release; the auditor does not know."""
    monkeypatch.setattr(LaplaceMechanism, "release", lambda _, counts: counts)


@pytest.fixture(scope="module")
def result():
    return audited(asked(review_level=0.2), table())


def test_the_result_has_every_field_and_survives_json(result):
    document = json.loads(result.to_json())

    Draft202012Validator(schema("audit")).validate(document)
    assert fp.AuditResult.from_dict(document) == result
    assert result.plan.sketch == "histogram"
    assert result.plan.levels == 32
    assert result.disparity.verdict == Verdicts(answered="below", all="below")


def test_the_guarantee_says_what_was_seen_and_what_is_left_open(result):
    assert result.guarantee["mode"] == "dp"
    assert result.guarantee["epsilon"] == 1.0
    assert "noisy histogram of each group in each silo" in result.guarantee["seen"]
    for limit in ("2 epsilon", "c epsilon", "m epsilon", "add up"):
        assert limit in result.guarantee["limits"]


def test_errors_are_nested_as_they_are_described(result):
    """Bins widen the population's range beyond its interval; sampling makes that the wider one."""
    found = result.disparity
    raw = found.certificate.upper - found.certificate.lower
    assert found.interval.upper - found.interval.lower > raw

    assert found.certificate.lower <= found.value <= found.certificate.upper
    assert found.combined.lower <= found.interval.lower
    assert found.combined.upper >= found.interval.upper
    assert found.outer == found.certificate


@pytest.mark.usefixtures("silent")
def test_without_noise_the_audit_is_that_of_the_histograms():
    """Only bins are left: the disparity is near to that of the plain sketches of the same table."""
    data = table()

    noisy = audited(asked(), data)
    plain = fp.simulate(data, silo="silo", score_range=(0, 1), levels=1000, redraws=20)

    assert noisy.disparity.value == pytest.approx(plain.disparity.value, rel=0.01)
    assert noisy.n == plain.n == 3000
    assert noisy.decomposition.v_bar == pytest.approx(plain.decomposition.v_bar, rel=0.02)
    assert noisy.attribution.within == pytest.approx(plain.attribution.within, rel=0.02)
    assert [s.disparity for s in noisy.silos] == pytest.approx(
        [s.disparity for s in plain.silos], rel=0.05
    )


@pytest.mark.usefixtures("silent")
def test_terms_that_noise_could_have_made_are_named():
    """Silos are dealt at random, so there is no selection and hardly any mixture discrepancy."""
    assert "the selection part" in said(audited(asked(), table()), "noise_alone")


def test_a_smaller_epsilon_gives_wider_intervals():
    data = table()
    widths = []
    for epsilon in (0.2, 1.0, 5.0):
        found = audited(asked(privacy={"epsilon": epsilon}), data).disparity
        widths.append(found.certificate.upper - found.certificate.lower)

    assert widths[0] > widths[1] > widths[2]


def test_an_epsilon_that_protects_weakly_is_said():
    words = said(audited(asked(privacy={"epsilon": 5.0}), table()), "weak_epsilon")

    assert "epsilon = 5 protects single records weakly" in words


def test_too_few_bins_are_said():
    found = audited(asked(privacy={"bins": 2, "epsilon": 2.0}), table())
    words = said(found, "bins_dominate")

    assert "depends on the bins more than on the noise" in words


def test_what_noise_drowns_is_said():
    few = table(rows=300, shift=0.1)
    words = said(audited(asked(privacy={"epsilon": 0.5}), few), "noise_dominates")

    assert "more than the disparity itself" in words


@pytest.mark.usefixtures("silent")
def test_a_missing_silo_and_a_withheld_cell_widen_the_outer_bounds():
    data = table()
    plan = asked(totals={"west": 900})
    east = {name: values[data["silo"] == "east"] for name, values in data.items()}
    few = {"score": [0.5], "group": ["B"]}
    messages = [
        fp.sketch(rows, plan=plan, silo=silo, ledger=False)
        for silo, rows in (("east", east), ("north", few))
    ]

    found = fp.audit(plan, messages, redraws=40)

    assert found.silos_missing == ("west",)
    assert found.silos[1].withheld
    assert found.disparity.outer.upper > found.disparity.certificate.upper
    compared = found.disparity.compared
    assert compared.answered.lower > 0.05
    assert compared.all.lower < 0.05 < compared.answered.upper < compared.all.upper
    assert found.unseen["A"] >= 900 + 11


@pytest.mark.usefixtures("silent")
def test_one_group_alone_is_refused():
    data = table()
    data["group"] = np.full(3000, "A")

    with pytest.raises(fp.errors.GroupError, match="no silo released group 'B'"):
        audited(asked(), data)


def test_equal_seeds_give_equal_errors_of_the_same_messages():
    plan, data = asked(), table()
    messages = [
        fp.sketch(
            {name: values[data["silo"] == silo] for name, values in data.items()},
            plan=plan,
            silo=silo,
            ledger=False,
        )
        for silo in SILOS
    ]

    first, again = (fp.audit(plan, order, redraws=40) for order in (messages, messages[::-1]))

    assert first == again
    assert fp.audit(plan, messages, redraws=40, seed=1) != first


@pytest.mark.usefixtures("silent")
def test_order_one_has_its_terms():
    data = table()

    noisy = audited(asked(order=1), data)
    plain = fp.simulate(data, silo="silo", score_range=(0, 1), levels=1000, order=1, redraws=20)

    assert noisy.decomposition.remainder is None
    assert noisy.disparity.value == pytest.approx(plain.disparity.value, rel=0.01)
    assert noisy.heterogeneity.value == pytest.approx(plain.heterogeneity.value, rel=0.01)


def test_bounds_at_a_threshold_hold_for_the_raw_data():
    """At 95 %, in 20 audits: all but a few of the true rates lie in their brackets."""
    data = table()
    rates = {g: float(np.mean(data["score"][data["group"] == g] > 0.45)) for g in "AB"}
    held = 0
    for _ in range(20):
        for each in audited(asked(), data, redraws=20).at_threshold(0.45).groups:
            held += each.rate.lower <= rates[each.group] <= each.rate.upper

    assert held >= 38


@pytest.mark.parametrize("redraws", [0, -1, 1, 19, 100.0, True, "100"])
def test_too_few_redraws_are_refused(redraws):
    plan, data = asked(), table(600)

    with pytest.raises(fp.errors.OptionError, match="whole number of at least 20"):
        audited(plan, data, redraws=redraws)


def deciles(rows=3000, seed=0):
    """Whole scores from 1 to 10, group B higher."""
    random = np.random.default_rng(seed)
    group = random.choice(["A", "B"], rows)
    score = 1 + random.binomial(9, np.where(group == "A", 0.35, 0.45)).astype(float)
    return {"score": score, "group": group, "silo": random.choice(SILOS, rows)}


def asked_of_deciles(**changes):
    privacy = {"epsilon": 1.0, "mode": "dp", **changes.pop("privacy", {})}
    return fp.Plan(
        title="Deciles",
        groups=("A", "B"),
        score_range=(1, 10),
        score_step=1,
        silos=SILOS,
        privacy=privacy,
        **changes,
    )


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("order", "estimator"), [(1, "exact"), (2, "exact"), (2, "grid")])
def test_without_noise_deciles_are_measured_exactly(order, estimator):
    """A bin is a score: nothing is smeared over the range, whatever the estimator of the plan."""
    data = deciles()
    scores, labels = data["score"], data["group"]

    found = audited(asked_of_deciles(order=order, estimator=estimator), data)

    exact = fp.disparity(scores, sensitive_features=labels, order=order)
    assert found.disparity.value == pytest.approx(exact, rel=1e-9)
    assert found.heterogeneity.value == pytest.approx(
        fp.heterogeneity(scores, sensitive_features=labels, order=order), rel=1e-9
    )
    for each in found.groups:
        assert each.mean == pytest.approx(scores[labels == each.group].mean(), rel=1e-12)
    for each in found.at_threshold(5).groups:
        assert each.rate.value == pytest.approx(np.mean(scores[labels == each.group] >= 5))


def test_bounds_of_deciles_at_a_threshold_hold_for_the_raw_data():
    """At 95 %, in 20 audits: all but a few of the true rates lie in their brackets."""
    data = deciles()
    rates = {g: float(np.mean(data["score"][data["group"] == g] >= 5)) for g in "AB"}
    held, widths = 0, []
    for _ in range(20):
        for each in audited(asked_of_deciles(), data, redraws=20).at_threshold(5).groups:
            held += each.rate.lower <= rates[each.group] <= each.rate.upper
            widths.append(each.rate.upper - each.rate.lower)

    assert held >= 38
    assert np.mean(widths) < 0.15  # a whole decile more would be 0.25


def test_a_score_between_deciles_is_refused():
    data = deciles()
    data["score"][7] += 0.5

    with pytest.raises(fp.errors.ScoreError, match="points of the plan's grid"):
        audited(asked_of_deciles(), data)


def test_rank_errors_hold_in_all_cells_at_once_and_are_not_idle():
    """Against known histograms: the bound holds in 95 % of draws, a tenth of it hardly ever."""
    random = np.random.default_rng(0)
    truth = np.tile(np.arange(1, 17) * 4, (3, 2, 1))
    exact = np.cumsum(truth, axis=-1) / truth.sum(axis=-1, keepdims=True)
    held = tight = 0
    for _ in range(100):
        histograms = NoisyHistograms(
            silos=("a", "b", "c"),
            groups=("A", "B"),
            counts=truth + NoiseLaw(0.5).draw(random, truth.shape),
            grid=Grid.of((0, 1), bins=16),
            noise=NoiseLaw(0.5),
        )
        masses = histograms.masses
        found = np.cumsum(masses, axis=-1) / masses.sum(axis=-1, keepdims=True)
        errors = np.abs(found - exact).max(axis=-1)
        bound = noise_rank_errors(histograms, confidence=0.95)
        held += bool((errors <= bound).all())
        tight += bool((errors <= bound / 10).all())

    assert held >= 92
    assert tight <= 5


def test_rank_errors_shrink_with_records_and_grow_with_noise():
    def errors(epsilon, size):
        held = NoisyHistograms(
            silos=("a",),
            groups=("A", "B"),
            counts=np.full((1, 2, 16), size),
            grid=Grid.of((0, 1), bins=16),
            noise=NoiseLaw(epsilon),
        )
        return float(noise_rank_errors(held, confidence=0.95).max())

    assert errors(1.0, 1000) < errors(1.0, 100) < errors(0.2, 100) <= 1.0


def test_progress_is_told_to_its_end():
    told = []
    audited(asked(), table(600), progress=lambda *step: told.append(step))

    drawn = [step for step in told if step[2] == "redrawing"]
    assert drawn[-1][:2] == (120, 120)


@pytest.mark.parametrize("redraws", [0, 1, 19, True, 2.5])
@pytest.mark.parametrize("privacy", [None, {"mode": "dp", "epsilon": 1.0}])
def test_too_few_redraws_are_refused_with_and_without_noise(privacy, redraws):
    plan = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), privacy=privacy)

    with pytest.raises(
        fp.errors.OptionError, match="redraws must be a whole number of at least 20"
    ):
        fp.simulate(table(600), silo="silo", plan=plan, redraws=redraws)
