"""A secure audit knows of all silos together what an audit of all their histograms knows."""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.tiers import DATA

import fedparity as fp
from fedparity.modes.secure.round_progress import SecureSum
from fedparity.modes.secure.rounds import run_rounds
from fedparity.modes.secure.secure_mode import SecureMode, SiloNumbers, protected, silo_vector
from fedparity.modes.secure.sum_audit import Summed
from fedparity.privacy.noise import monotone_masses
from fedparity.sketches.records import ArrayRecords
from fedparity.uncertainty.noisy_histograms import LEVELS, HistogramReader

SILOS = ("aurora", "bayside", "cedar", "dune", "elm")


def tables(seed=0, sizes=(600, 900, 300, 700, 500), groups=2):
    """Scores and groups of each silo: selection, and groups that differ inside silos."""
    random = np.random.default_rng(seed)
    made = {}
    for place, (silo, size) in enumerate(zip(SILOS, sizes, strict=False)):
        shares = random.dirichlet(np.ones(groups) * 4)
        codes = random.choice(groups, size, p=shares).astype(np.uint8)
        made[silo] = random.beta(2 + codes + place / 2, 4 - place / 3), codes
    return made


def plan_of(made, **options):
    privacy = {"mode": "secure", **options.pop("privacy", {})}
    groups = options.pop("groups", ("A", "B"))
    return fp.Plan(
        title="Q4",
        groups=groups,
        score_range=(0.0, 1.0),
        silos=tuple(made),
        privacy=privacy,
        **options,
    )


def exact_histograms(plan, made):
    """Counts by silo, group and bin, by NumPy's own histogram."""
    bounds = plan.grid.bounds
    return np.array(
        [
            [np.histogram(scores[codes == s], bounds)[0] for s in range(len(plan.groups))]
            for scores, codes in made.values()
        ]
    )


def numbers_of(plan, scores, codes):
    return SecureMode(plan).numbers(ArrayRecords(tuple(plan.groups), scores, codes))


def secure_audit(plan, made, **options):
    """All rounds, and the audit of their messages."""
    vectors = {silo: silo_vector(plan, numbers_of(plan, *table)) for silo, table in made.items()}
    return fp.audit(plan, run_rounds(plan, vectors), **({"redraws": 50} | options))


def plain_sums(plan, made):
    """The sum of the silos' vectors, without any mask."""
    vectors = [silo_vector(plan, numbers_of(plan, *table)) for table in made.values()]
    return Summed.from_sum(plan, SecureSum(np.sum(vectors, axis=0), tuple(made), ()))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [("A", "B"), ("A", "B", "C")])
def test_the_disparity_is_that_of_the_silos_histograms(groups, order):
    """G from sums alone, to twelve digits; nothing else is a function of them."""
    made = tables(groups=len(groups))
    plan = plan_of(made, groups=groups, order=order)
    reader = HistogramReader(plan.grid, order=order, levels=LEVELS)
    reading = reader.read(exact_histograms(plan, made)[None].astype(float))

    result = secure_audit(plan, made)

    whole = reader.disparity(reading.mixed, reading.shares).item()
    assert result.disparity.value == pytest.approx(whole, rel=1e-12)
    assert result.n == sum(len(scores) for scores, _ in made.values())


def test_counts_at_points_are_the_raw_data():
    """With a step every global measure is that of the pooled scores."""
    made = {
        silo: (1 + np.floor(10 * scores).clip(0, 9), codes)
        for silo, (scores, codes) in tables().items()
    }
    plan = fp.Plan(
        title="Deciles",
        groups=("A", "B"),
        score_range=(1, 10),
        score_step=1,
        silos=SILOS,
        privacy={"mode": "secure"},
    )
    scores, codes = (np.concatenate(columns) for columns in zip(*made.values(), strict=True))

    result = secure_audit(plan, made)

    exact = fp.disparity(scores, sensitive_features=codes)
    assert plan.privacy.bins == 10
    assert result.disparity.value == pytest.approx(exact, rel=1e-9)
    assert result.disparity.certificate.lower == pytest.approx(exact, rel=1e-8)
    assert result.disparity.certificate.upper == pytest.approx(exact, rel=1e-8)


def test_too_few_redraws_are_refused():
    made = tables()

    with pytest.raises(fp.errors.OptionError, match="whole number of at least 20"):
        secure_audit(plan_of(made), made, redraws=0)


def test_sums_of_histograms_are_exact():
    made = tables()
    plan = plan_of(made)

    summed = plain_sums(plan, made)

    assert summed.counts.tolist() == exact_histograms(plan, made).sum(axis=0).tolist()


@pytest.mark.parametrize("options", [{}, {"score_step": 0.001}])
def test_rates_at_the_plans_thresholds_are_those_of_all_records(options):
    """Bins meet at thresholds, so that a sum of counts is the number at or above each of them."""
    made = {silo: (np.round(scores, 3), codes) for silo, (scores, codes) in tables().items()}
    thresholds = (0.3, 0.517, 0.518)
    plan = plan_of(made, thresholds=thresholds, privacy={"bins": 16}, **options)
    scores = np.concatenate([scores for scores, _ in made.values()])
    labels = np.concatenate([codes for _, codes in made.values()])

    result = secure_audit(plan, made)

    assert plan.grid.bins == plan.privacy.bins
    for threshold, found in zip(thresholds, result.thresholds, strict=True):
        for code, row in enumerate(found.groups):
            rate = (scores[labels == code] >= threshold).mean()
            assert row.rate.lower == row.rate.value == row.rate.upper == pytest.approx(rate)


def test_counts_agree_with_the_certificate_of_the_raw_data():
    """The disparity of the raw scores lies in the certificate, which only knows the bins."""
    for seed in range(20):
        made = tables(seed)
        for bins in (4, 16, 64):
            plan = plan_of(made, privacy={"bins": bins})
            scores = np.concatenate([scores for scores, _ in made.values()])
            labels = np.concatenate([codes for _, codes in made.values()])

            low, high = secure_audit(plan, made, redraws=20).disparity.certificate

            assert low <= fp.disparity(scores, sensitive_features=labels) <= high


def test_without_noise_all_errors_are_the_interval_and_the_certificate():
    """The verdict counts what the bins could hide in full, as in any audit of exact sketches."""
    found = secure_audit(plan_of(made := tables(), privacy={"bins": 16}), made).disparity

    below, above = found.value - found.outer.lower, found.outer.upper - found.value
    assert found.outer == found.certificate
    assert found.combined.lower == max(0.0, found.interval.lower - below)
    assert found.combined.upper == found.interval.upper + above


def test_rows_without_a_score_are_summed_too():
    made = tables(sizes=(100, 100, 100))
    plan = plan_of(made)
    vectors = {}
    for silo, table in made.items():
        numbers = SiloNumbers(numbers_of(plan, *table).counts, dropped=2)
        vectors[silo] = silo_vector(plan, numbers)

    result = fp.audit(plan, run_rounds(plan, vectors), redraws=20)

    assert any(
        "6 rows without a score were dropped" in warning.text for warning in result.warnings
    )


@pytest.mark.parametrize(
    "privacy", [{}, *({"mode": "secure+dp", "epsilon": 1.0, "dose": d} for d in ("full", "split"))]
)
def test_nothing_is_said_of_a_single_silo_nor_of_sources(privacy):
    result = secure_audit(plan := plan_of(tables(), privacy=privacy), tables())

    for silo in result.silos:
        assert silo.note == "not seen: secure sum"
        assert set(silo.n.values()) == {None}
        assert silo.disparity is silo.interval is silo.wasserstein is None
    assert {each.influence for each in result.attribution.silos} == {None}
    parts, terms = result.attribution, result.decomposition
    assert {parts.selection, parts.within, *parts.intervals.__dict__.values()} == {None}
    assert set(terms.__dict__.values()) == {None}
    assert "only_sums" in {warning.code for warning in result.warnings}
    assert result.guarantee["seen"].endswith("added up over 5 of 5 silos")
    assert fp.AuditResult.from_dict(result.to_dict()) == result
    assert len(plan.groups) == 2


@pytest.mark.parametrize("dose", ["full", "split"])
def test_noise_is_in_the_sum_and_in_its_interval(dose):
    """With noise the truth of the data is in the certificate, about as often as it says."""
    made = tables(sizes=(4000, 4000, 4000, 4000, 4000))
    privacy = {"mode": "secure+dp", "epsilon": 1.0, "bins": 32, "dose": dose}
    plan = plan_of(made, privacy=privacy)
    scores = np.concatenate([scores for scores, _ in made.values()])
    labels = np.concatenate([codes for _, codes in made.values()])
    truth = fp.disparity(scores, sensitive_features=labels)

    results = [secure_audit(plan, made, redraws=200, seed=i) for i in range(20)]

    covered = [low <= truth <= high for low, high in (r.disparity.certificate for r in results)]
    assert sum(covered) >= 15
    assert len({result.disparity.value for result in results}) == 20
    assert results[0].guarantee["dose"] == dose


def test_missing_silos_open_the_outer_bounds_unless_their_size_is_public():
    made = tables()
    without = {silo: made[silo] for silo in SILOS if silo != "elm"}
    unknown = plan_of(made)
    known = plan_of(made, totals={"elm": 500})
    scores = np.concatenate([scores for scores, _ in made.values()])
    labels = np.concatenate([codes for _, codes in made.values()])
    truth = fp.disparity(scores, sensitive_features=labels)

    open_ended, bounded = secure_audit(unknown, without), secure_audit(known, without)

    assert open_ended.silos_missing == ("elm",)
    assert tuple(open_ended.disparity.outer) == (0.0, 0.25)
    assert bounded.disparity.outer.lower <= truth <= bounded.disparity.outer.upper < 0.25
    assert "'elm'" in open_ended.warnings[0].text


SMALL = {
    silo: (np.array([0.1, 0.2, 0.3, 0.9]), np.array([0, 0, 0, 1], np.uint8)) for silo in SILOS[:3]
}


def test_a_group_too_small_in_all_silos_together_leaves_nothing_to_compare():
    with pytest.raises(fp.errors.GroupError, match="fewer than 4 records of group 'B'"):
        secure_audit(plan_of(SMALL, disclosure={"minimum_cell": 4}), SMALL)


@pytest.mark.parametrize("noise", [{}, {"mode": "secure+dp", "epsilon": 5.0, "bins": 4}])
def test_a_group_too_small_in_all_silos_together_is_set_aside_by_name(noise):
    """Its number is not told; outer bounds count it, and hold for all groups together."""
    made = {}
    for silo, (scores, codes) in tables(sizes=(600, 900, 300)).items():
        few = np.array([0.99]) if silo == "cedar" else np.array([])
        made[silo] = np.append(scores, few), np.append(codes, np.full(few.size, 2, np.uint8))
    plan = plan_of(made, groups=("A", "B", "C"), privacy=noise)
    scores, codes = (np.concatenate(columns) for columns in zip(*made.values(), strict=True))

    result = secure_audit(plan, made)

    (aside,) = result.set_aside
    assert aside.group == "C"
    assert [each.group for each in result.groups] == ["A", "B"]
    least = plan.disclosure.minimum_cell
    assert (aside.most == least - 1) if not noise else (aside.most >= least)
    assert f"fewer than {least}" in aside.known
    low, high = result.disparity.outer
    assert low <= fp.disparity(scores, sensitive_features=codes) <= high
    assert result.warnings[0].code == "group_set_aside"
    assert fp.AuditResult.from_dict(result.to_dict()) == result


def test_weighted_records_are_refused():
    plan = plan_of(tables())
    records = ArrayRecords(("A", "B"), np.array([0.5]), np.array([0]), np.array([2.0]))

    with pytest.raises(fp.errors.PrivacyError, match="weights cannot be released"):
        SecureMode(plan).numbers(records)


def test_uneven_edges_are_used_as_given():
    made = tables()
    edges = [0.05, 0.3, 0.31, 0.8]
    plan = plan_of(made, privacy={"edges": edges})

    summed = plain_sums(plan, made)

    assert plan.grid.bins == 5
    assert summed.counts.tolist() == exact_histograms(plan, made).sum(axis=0).tolist()


@pytest.mark.data
@pytest.mark.parametrize(("dose", "limit"), [("split", 0.02), ("full", 0.035)])
def test_compas_is_measured_within_the_limit_under_noise(dose, limit):
    """Five silos by age, epsilon 1, 60 runs: the mean relative error of G_2 (split: h = d).

    The noise is that of the silos' own code; masks cancel exactly, so they are left out.
    """
    deciles, races, ages = compas()
    random = np.random.default_rng(5)
    scores = deciles - random.random(deciles.size)
    silo_of = np.searchsorted(np.quantile(ages, [0.2, 0.4, 0.6, 0.8]), ages)
    codes = (races == "Caucasian").astype(np.uint8)
    honest = {"honest": 5, "threshold": 5} if dose == "split" else {}
    plan = fp.Plan(
        title="COMPAS",
        groups=("African-American", "Caucasian"),
        score_range=(0.0, 10.0),
        silos=SILOS,
        privacy={"mode": "secure+dp", "epsilon": 1.0, "records": 2454, "dose": dose, **honest},
    )
    counts = [numbers_of(plan, scores[silo_of == j], codes[silo_of == j]).counts for j in range(5)]
    truth = fp.disparity(scores, sensitive_features=races)
    errors = []
    for _ in range(60):
        masses = monotone_masses(sum(protected(plan, each) for each in counts))
        reader = HistogramReader(plan.grid, order=2, levels=LEVELS)
        (found,) = reader.disparity(masses[None])
        errors.append(abs(found - truth) / truth)

    assert np.mean(errors) <= limit


def compas():
    with (Path(DATA) / "compas-scores-two-years.csv").open(newline="") as file:
        rows = [
            (float(row["decile_score"]), row["race"], float(row["age"]))
            for row in csv.DictReader(file)
            if row["race"] in ("African-American", "Caucasian")
        ]
    deciles, races, ages = zip(*rows, strict=True)
    return np.array(deciles), np.array(races), np.array(ages)
