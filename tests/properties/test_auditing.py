"""What an audit claims holds for the records behind the messages."""

import math
import os

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit_strategies import audited_tables, make_messages, make_plan
from tests.strategies import off_by

import fedparity as fp
from fedparity.auditing.audit import audit
from fedparity.auditing.result import AuditResult
from fedparity.privacy.rounding import round_values, rounding_error

CASES = int(os.environ.get("FEDPARITY_CERTIFICATE_CASES", "1500")) // 5

rules = st.fixed_dictionaries(
    {
        "minimum_cell": st.sampled_from([1, 2, 5, 11]),
        "records_per_level": st.sampled_from([0, 1, 10]),
        "rounding": st.sampled_from([0.0, 0.001, 0.03, 0.1]),
    }
)


def inside(value, interval):
    return interval[0] <= value <= interval[1]


@settings(max_examples=60, deadline=None)
@given(
    audited_tables(),
    rules,
    st.fixed_dictionaries(
        {
            "order": st.sampled_from([1, 2]),
            "sketch": st.sampled_from(["quantile", "mean"]),
            "levels": st.integers(1, 12),
        }
    ),
    st.sets(st.sampled_from("yz")),
)
def test_bounds_hold_for_all_records_seen_or_not(table, disclosure, asked, silent):
    """Withheld, rounded and coarsened cells, silos that send nothing: the outer bounds hold."""
    scores, groups, silos = map(np.asarray, table)
    hidden = np.isin(silos, list(silent))
    scores = np.where(hidden, groups == "B", scores)  # as far apart as can be
    totals = {silo: int(np.sum(silos == silo)) for silo in set(silos.tolist())}
    plan = make_plan(
        **asked,
        disclosure=disclosure,
        totals={silo: totals[silo] for silo in silent & totals.keys()},
    )
    messages = [m for m in make_messages(plan, scores, groups, silos) if m.silo not in silent]

    found = audit(plan, messages, redraws=20)

    truth = fp.disparity(scores, sensitive_features=groups, order=asked["order"])
    assert inside(truth, found.disparity.outer)
    assert found.disparity.outer.lower <= found.disparity.certificate.lower
    assert found.disparity.outer.upper >= found.disparity.certificate.upper


@settings(max_examples=30, deadline=None)
@given(audited_tables(), rules, st.sampled_from([1, 2]), st.integers(1, 12))
def test_a_result_survives_its_json(table, disclosure, order, levels):
    plan = make_plan(order=order, levels=levels, disclosure=disclosure, review_level=0.01)
    found = audit(plan, make_messages(plan, *table), redraws=20)

    assert AuditResult.from_dict(found.to_dict()) == found
    assert math.isclose(
        found.attribution.selection + found.attribution.within,
        found.disparity.value,
        rel_tol=1e-9,
        abs_tol=1e-12,
    )


def rounded_federation(random, scores, labels, silos):
    """The sketches of these records, rounded."""
    kind, levels = random.choice(["quantile", "mean"]), int(random.integers(1, 30))
    share = float(random.choice([0.001, 0.01, 0.05, 0.1]))
    exact = fp.Federation.from_scores(scores, groups=labels, silos=silos, levels=levels, kind=kind)
    cells = {
        key: fp.Cell(
            count=cell.count,
            values=round_values(cell.values, (0.0, 1.0), share),
            kind=kind,
            value_error=rounding_error((0.0, 1.0), share),
        )
        for key, cell in exact.cells.items()
    }
    return fp.Federation.from_cells(cells)


def test_the_raw_disparity_never_leaves_the_certificate_of_rounded_sketches():
    """Both kinds and orders, two to four groups, ties and scores at the ends of the range."""
    for seed in range(CASES):
        random = np.random.default_rng((seed, 11))
        groups = int(random.integers(2, 5))
        size = int(random.integers(groups, 60))
        ends = random.choice([0.3, 1.0, 3.0])
        scores = random.beta(ends, ends, size)
        if random.random() < 0.3:
            scores = np.round(scores * 4) / 4
        labels = random.integers(0, groups, size)
        labels[:groups] = np.arange(groups)
        silos = random.integers(0, random.integers(1, 6), size)
        sketches = rounded_federation(random, scores, labels, silos)
        for order in (1, 2):
            certificate = fp.certify(sketches, score_range=(0, 1), order=order)

            assert fp.disparity(scores, sensitive_features=labels, order=order) in certificate


def test_a_rounding_that_is_not_counted_is_found_out():
    """The test above could fail: without its value error a certificate is too narrow."""
    outside = 0
    for seed in range(60):
        random = np.random.default_rng((seed, 12))
        scores, labels = random.random(30), np.arange(30) % 2
        sketches = off_by(rounded_federation(random, scores, labels, np.zeros(30, int)), 0.0)
        certificate = fp.certify(sketches, score_range=(0, 1))
        outside += fp.disparity(scores, sensitive_features=labels) not in certificate

    assert outside > 5
