"""A result for trackers of experiments and for LaTeX."""

import math
import re

import numpy as np
import pytest
from tests.report_results import aside_result, incomplete_result, plain_result, summed_result

import fedparity as fp

RESULTS = (aside_result, incomplete_result, plain_result, summed_result)
NAME = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


@pytest.mark.parametrize("make", RESULTS, ids=lambda make: make.__name__)
def test_metrics_are_finite_floats_under_safe_names(make):
    metrics = make().to_metrics()

    for name, value in metrics.items():
        assert NAME.fullmatch(name)
        assert len(name) <= 250
        assert type(value) is float
        assert math.isfinite(value)


def test_metrics_are_the_numbers_of_the_result():
    result = plain_result()
    metrics = result.to_metrics()

    assert metrics["worst_pair/corrected"] == result.magnitudes.worst_pair.corrected
    assert metrics["disparity/upper"] == result.disparity.interval.upper
    for group in result.groups:
        assert metrics[f"groups/{group.group}/mean"] == group.mean


def labeled(labels):
    random = np.random.default_rng(0)
    table = {"g": [label for label in labels for _ in range(20)]}
    table["z"] = random.random(len(table["g"]))
    return fp.audit(table, score="z", group="g", score_range=(0, 1), redraws=20)


def test_labels_that_become_the_same_name_are_told_apart():
    result = labeled(["a/b", "a b", "..", "A B", "x" * 150])

    means = {name: v for name, v in result.to_metrics().items() if name.endswith("/mean")}

    assert sorted(means.values()) == sorted(group.mean for group in result.groups)
    assert len({name.casefold() for name in means}) == 5


def test_names_cannot_break_out_of_a_table():
    label = r"a & b \ _{}^~ % $ # [x] \end{tabular}"
    text = labeled([label, "c"]).to_latex()
    row = next(line for line in text.splitlines() if line.startswith("a "))

    assert r"a \& b \textbackslash{} \_\{\}\textasciicircum{}\textasciitilde{} \% \$ \#" in row
    assert r"{[}x{]}" in row
    assert text.count(r"\end{tabular}") == text.count(r"\begin{tabular}") >= 3


@pytest.mark.parametrize("make", RESULTS, ids=lambda make: make.__name__)
def test_every_row_has_as_many_cells_as_its_table(make):
    text = make().to_latex()

    for columns, body in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL
    ):
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert rows
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
    assert text.isascii() or set(re.findall(r"[^\x00-\x7f]", text)) <= set("·’“”…éü")
    assert text.count(r"\toprule") == text.count(r"\bottomrule")
