"""What sentences say of protection, of noise, and of sums in which no silo was seen."""

import dataclasses

import pytest
from tests.report_results import aside_result, noisy_result, plain_result, summed_result

from fedparity.cli.audit_text import audit_text
from fedparity.report import sentences
from fedparity.report.tables import measures

GUARANTEES = {
    "rules off": ({"mode": "none"}, "No noise was added. No disclosure rule was applied."),
    "rules": (
        {"mode": "none", "minimum_cell": 11, "records_per_level": 10, "rounding": 0.001},
        "cells of fewer than 11 records are withheld; a cell sends at most one value per 10",
    ),
    "dp": (
        {"mode": "dp", "epsilon": 1.5},
        "differential privacy), with epsilon = 1.5 per release.",
    ),
    "secure": ({"mode": "secure"}, "Only sums over silos were seen (secure aggregation)."),
    "both": ({"mode": "secure+dp", "epsilon": 0.5}, "with epsilon = 0.5 per release."),
    "unknown": ({"mode": "quantum"}, "The privacy mode is quantum."),
    "unstated": ({}, "The privacy mode is not stated."),
    "further": ({"mode": "dp", "epsilon": 1, "bins": 64}, "Further stated terms: bins = 64."),
    "nonsense": ({"mode": "none", "minimum_cell": "many"}, "No disclosure rule was applied."),
}


@pytest.mark.parametrize("name", GUARANTEES)
def test_the_guarantee_is_what_the_messages_state(name):
    terms, words = GUARANTEES[name]
    text = sentences.explain_privacy(dataclasses.replace(plain_result(), guarantee=terms))

    assert words in text
    assert ("This is not differential privacy" in text) == ("dp" not in terms.get("mode", ""))


def test_quantiles_are_somebodys_scores_and_means_are_not():
    quantiles = plain_result(sketch="quantile", estimator="grid")

    assert "Each quantile is somebody's score." in sentences.explain_privacy(quantiles)
    assert "somebody" not in sentences.explain_privacy(plain_result())


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda: plain_result(sketch="quantile"), "a count and up to 20 quantiles of its scores"),
        (
            plain_result,
            "a count and up to 20 bin means of its scores and a mean square: at most 44",
        ),
        (
            aside_result,
            "small counts joined, and its records at or above 1 threshold: at most 44",
        ),
    ],
    ids=["quantiles", "means", "counts"],
)
def test_it_says_what_a_cell_holds(result, words):
    assert words in sentences.explain_privacy(result())


@pytest.mark.parametrize("order", [1, 2])
def test_of_a_secure_sum_nothing_is_said_of_a_silo(order):
    """Not that a silo would have seen nothing: it is not known."""
    result = summed_result(order=order)

    assert "not known" in sentences.seen_alone(result)
    assert "not known" in sentences.why(result)
    assert sentences.explain_decomposition(result) == (
        "V_mix and V_bar are not known: only sums over silos were seen."
    )
    assert "Of the silos together the audit has" in sentences.explain_privacy(result)
    assert "in 64 bins" in sentences.explain_privacy(result)
    assert "The auditor saw: sums over 3 silos." in sentences.explain_privacy(result)
    assert "somebody" not in sentences.explain_privacy(result)
    assert "guaranteed error of the bins" in sentences.how_certain(result)


def test_of_a_secure_sum_what_is_missing_is_told_once_and_completely():
    told = sentences.what_is_missing(summed_result())

    assert told == (
        "1 of 4 silos dropped out and is in no estimate: late.",
        "7 rows without a score were dropped: the ranges do not allow for them.",
    )


def test_noise_is_an_error_of_its_own():
    result = noisy_result()

    assert "guaranteed error of noise and bins" in sentences.how_certain(result)
    assert "as noise can be anything" in sentences.explain_accuracy(result)
    assert "noisy numbers of records in 32 bins" in sentences.explain_privacy(result)
    assert "Limits of the protection: m silos, m epsilon." in sentences.explain_privacy(result)


def test_tables_say_what_the_certificate_takes_as_given():
    """With noise it is no proof from the sketches, in the terminal and in tables alike."""
    for result, words in (
        (plain_result(), "given what was sent"),
        (noisy_result(), "given noise"),
    ):
        rows = measures(result).texts(result.to_dict())
        table = next(row for row in rows if row[0] == "certificate")

        assert words in table[-1]
        assert words in audit_text(result, details=True)
