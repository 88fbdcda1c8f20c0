"""A secure audit knows of all silos together what an audit of all their histograms knows."""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.tiers import DATA

import fedparity as fp
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.secure.summed import Summed
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.reading import HistogramReader
from fedparity.engines.secure_rounds import run_rounds
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.privacy.projection import monotone_masses
from fedparity.protocol.secure.layout import CENTER_LEVELS, Layout
from fedparity.releasing.secure.numbers import (
    SiloNumbers,
    count_records,
    protected,
    silo_vector,
)
from fedparity.sketches.records import ArrayRecords

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
    return count_records(plan, ArrayRecords(tuple(plan.groups), scores, codes))


def secure_audit(plan, made, **options):
    """All rounds, and the audit of their messages."""
    vectors = {silo: silo_vector(plan, numbers_of(plan, *table)) for silo, table in made.items()}
    return fp.audit(plan, run_rounds(plan, vectors), **({"redraws": 50} | options))


def plain_sums(plan, made):
    """The sum of the silos' vectors, without any mask."""
    vectors = [silo_vector(plan, numbers_of(plan, *table)) for table in made.values()]
    return Summed.of(plan, SecureSum(np.sum(vectors, axis=0), tuple(made), ()))


@pytest.mark.parametrize("groups", [("A", "B"), ("A", "B", "C")])
def test_all_global_measures_are_those_of_the_silos_histograms(groups):
    """G, H, V_mix, V_bar, R, selection and within, from sums alone, to nine digits."""
    made = tables(groups=len(groups))
    plan = plan_of(made, groups=groups)
    histograms = NoisyHistograms(
        silos=SILOS,
        groups=groups,
        counts=exact_histograms(plan, made),
        grid=plan.grid,
        noise=NoiseLaw(1.0),
    )
    reader = HistogramReader(plan.grid, order=2, levels=CENTER_LEVELS)
    reading = reader.read(histograms.masses[None])
    measured = {**reader.parts(reading), **reader.terms(reading)}
    expected = {name: value.item() for name, value in measured.items()}

    result = secure_audit(plan, made)

    terms, parts = result.decomposition, result.attribution
    whole = reader.disparity(reading.mixed, reading.shares).item()
    assert result.disparity.value == pytest.approx(whole, rel=1e-12)
    assert result.n == sum(len(scores) for scores, _ in made.values())
    for name in ("v_mix", "v_bar", "remainder"):
        assert getattr(terms, name) == pytest.approx(expected[name], rel=1e-8, abs=1e-12)
    for name in ("selection", "within"):
        assert getattr(parts, name) == pytest.approx(expected[name], rel=1e-8, abs=1e-12)
    assert terms.v_mix + terms.v_bar + terms.remainder == pytest.approx(whole, rel=1e-9)


def test_counts_at_points_are_the_raw_data():
    """With a step every global measure is that of the pooled scores; only the centers are read."""
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
    silos = np.repeat(SILOS, [len(own) for own, _ in made.values()])
    pooled = fp.Federation.from_scores(
        scores, groups=codes, silos=silos, levels=100, kind="counts"
    )
    method = fp.Method(estimator="exact")

    result = secure_audit(plan, made)

    exact = fp.disparity(scores, sensitive_features=codes)
    assert plan.privacy.bins == 10
    assert result.disparity.value == pytest.approx(exact, rel=1e-9)
    assert result.disparity.certificate.lower == pytest.approx(exact, rel=1e-8)
    assert result.disparity.certificate.upper == pytest.approx(exact, rel=1e-8)
    parts, terms = fp.attribute(pooled, method), fp.decompose(pooled, method)
    assert result.attribution.selection == pytest.approx(parts.selection, rel=1e-6)
    assert result.attribution.within == pytest.approx(parts.within, rel=1e-6)
    assert result.decomposition.v_mix == pytest.approx(terms.v_mix, rel=0.02)
    found = result.decomposition
    assert found.v_mix + found.v_bar + found.remainder == pytest.approx(exact, rel=1e-9)


def test_too_few_redraws_are_refused():
    made = tables()

    with pytest.raises(fp.OptionError, match="whole number of at least 20"):
        secure_audit(plan_of(made), made, redraws=0)


def test_order_1_knows_all_but_the_centers():
    made = tables()
    plan = plan_of(made, order=1)
    reader = HistogramReader(plan.grid, order=1, levels=CENTER_LEVELS)
    reading = reader.read(exact_histograms(plan, made)[None].astype(float))
    expected = reader.parts(reading)

    result = secure_audit(plan, made)

    whole = reader.disparity(reading.mixed, reading.shares).item()
    assert result.disparity.value == pytest.approx(whole, rel=1e-12)
    assert result.attribution.selection == pytest.approx(expected["selection"].item(), abs=1e-9)
    assert result.decomposition.v_mix is None
    assert any("order 1" in warning.text for warning in result.warnings)


def test_sums_of_histograms_are_exact_and_centers_are_to_1e_8():
    made = tables()
    plan = plan_of(made)
    counts = exact_histograms(plan, made)
    reader = HistogramReader(plan.grid, order=2, levels=CENTER_LEVELS)
    reading = reader.read(counts[None].astype(float))
    weights = reading.counts[0] / reading.counts[0].sum(axis=0)
    centers = np.sum(weights[..., None] * reader.quantiles(reading.cells)[0], axis=0)

    summed = plain_sums(plan, made)

    assert summed.counts.tolist() == counts.sum(axis=0).tolist()
    assert np.abs(summed.centers - centers).max() < 1e-8


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


def test_a_silo_without_a_group_is_stood_in_for_and_counted():
    made = tables(sizes=(600, 900, 300))
    scores, codes = made["cedar"]
    made["cedar"] = scores, np.zeros_like(codes)
    plan = plan_of(made)
    federation = fp.Federation.from_cells(
        {
            (silo, group): fp.Cell.from_scores(scores[codes == s], levels=1000)
            for silo, (scores, codes) in made.items()
            for s, group in enumerate(plan.groups)
            if (codes == s).any()
        }
    )
    expected = fp.attribute(federation, fp.Method(levels=1000))

    result = secure_audit(plan, made)

    assert result.attribution.selection == pytest.approx(expected.selection, rel=0.01)
    assert any("1 without 'B'" in warning.text for warning in result.warnings)


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


def test_nothing_is_said_of_a_single_silo():
    result = secure_audit(plan := plan_of(tables()), tables())

    for silo in result.silos:
        assert silo.note == "not seen: secure sum"
        assert set(silo.n.values()) == {None}
        assert silo.disparity is silo.interval is silo.wasserstein is None
    assert {each.influence for each in result.attribution.silos} == {None}
    assert result.guarantee["seen"].startswith("sums over 5 of 5 silos")
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
    known = [result.attribution.selection is not None for result in results]
    assert set(known) == {dose == "full"}
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
    assert open_ended.disparity.outer == (0.0, 0.25)
    assert bounded.disparity.outer.lower <= truth <= bounded.disparity.outer.upper < 0.25
    assert "'elm'" in open_ended.warnings[0].text


def test_a_group_too_small_in_all_silos_together_is_not_reported():
    made = {
        silo: (np.array([0.1, 0.2, 0.3, 0.9]), np.array([0, 0, 0, 1], np.uint8))
        for silo in SILOS[:3]
    }

    with pytest.raises(fp.GroupError, match="fewer than 4 records of group 'B'"):
        secure_audit(plan_of(made, disclosure={"minimum_cell": 4}), made)


def test_weighted_records_are_refused():
    plan = plan_of(tables())
    records = ArrayRecords(("A", "B"), np.array([0.5]), np.array([0]), np.array([2.0]))

    with pytest.raises(fp.PrivacyError, match="weights cannot be released"):
        count_records(plan, records)


def test_more_records_than_a_sum_can_hold_are_refused(monkeypatch):
    plan = plan_of(tables())
    monkeypatch.setattr("fedparity.privacy.masking.fixed_point.MOST_RECORDS", 500)

    with pytest.raises(fp.RoundError, match="more than 100 records"):
        numbers_of(plan, *tables()["aurora"])


def test_the_largest_sums_do_not_wrap_around():
    """At the most records there may be, every number of the vector stays below 2^63."""
    plan = plan_of(tables())
    most = 2**38 // 5
    counts = np.zeros((2, plan.grid.bins), dtype=np.int64)
    counts[0, -1], counts[1, 0] = most - 1, 1
    vector = silo_vector(plan, SiloNumbers(counts, 0))
    total = [5 * number for number in vector.tolist()]  # Python's integers do not wrap

    assert max(map(abs, total)) < 2**63
    assert vector.min() >= 0
    parts = Layout.of(plan).unpack(vector)
    assert parts["unselected"][1, 0] == pytest.approx(most * 2**24, rel=1e-12)


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
        reader = HistogramReader(plan.grid, order=2, levels=CENTER_LEVELS)
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
