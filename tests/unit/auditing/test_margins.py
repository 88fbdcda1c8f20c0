"""Audits whose intersections cannot be compared: the tables by axis are in the messages, so they answer."""

import json
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.tiers import count

import fedparity as fp
from fedparity.cli.audit_text import audit_text
from fedparity.documents.json_text import schema
from fedparity.errors import GroupError
from fedparity.report.filing_templates import filing
from fedparity.report.markdown import markdown_report
from fedparity.report.model_card import model_card_section
from fedparity.silo.sketch import prepare

SEX, RACE = ("F", "M"), ("A", "B", "C")
SAID = (
    "fewer than two intersections of sex and race were released by any silo: the first numbers are "
    "those by sex."
)


def plan_of(**stated):
    return fp.Plan(
        **{
            "title": "small employers",
            "axes": {"sex": SEX, "race": RACE},
            "score_range": (1, 10),
            "score_step": 1,
            "thresholds": (5,),
            "review_level": 2.0,
            "sketch": "mean",
            **stated,
        }
    )


def employers(silos=5, size=50, races=RACE):
    """A table per silo, each too small for its intersections."""
    random = np.random.default_rng(0)
    found = {}
    for silo in range(silos):
        women = 2 * size // 5
        sex = random.permutation(np.repeat(SEX, [women, size - women]))
        score = random.normal(4 + 2 * (sex == "M"), 1.5, size)
        found[f"s{silo}"] = {
            "sex": sex,
            "race": np.resize(races, size),
            "score": np.clip(np.round(score), 1, 10),
        }
    return found


def column(tables, name):
    return np.concatenate([table[name] for table in tables.values()])


def audited(plan, tables, **more):
    messages = [
        prepare(table, plan=plan, silo=silo, score="score").sketch
        for silo, table in tables.items()
    ]
    return fp.audit(plan, messages, redraws=30, **more)


@pytest.fixture(scope="module")
def found():
    return audited(plan_of(), employers()).with_rates(tails=[0.5])


def test_the_first_axis_answers_where_no_intersection_was_released(found):
    table = found.tables["sex"]

    assert [each.group for each in found.groups] == [*SEX]
    assert found.n == 250
    assert found.disparity == table.disparity
    assert found.magnitudes == table.magnitudes
    assert found.pairs == table.pairs
    assert found.thresholds == table.thresholds
    assert found.attribution.within == pytest.approx(table.attribution.within)
    assert found.disparity.verdict.all == found.disparity.verdict.answered


def test_it_is_said_first_with_a_code_of_its_own(found):
    assert (found.warnings[0].code, found.warnings[0].text) == ("no_intersections", SAID)
    start = " ".join(audit_text(found).split("\n\n")[0].split())
    assert f"! F{SAID[1:]}" in start


def test_intersections_are_named_with_what_is_known_of_them(found):
    rows = found.tables[""].groups

    assert [row.group for row in rows] == [(sex, race) for sex in SEX for race in RACE]
    assert {row.status for row in rows} == {"withheld"}
    assert all(row.known.startswith("no silo released it; at most ") for row in rows)
    assert found.tables[""].note == "fewer than two rows can be compared"
    assert "  F & A                  -        -        -" in audit_text(found)


def test_nobody_whose_intersection_is_withheld_is_missing(found):
    """They are in the table by axis, so nothing widens the outer bounds."""
    tables = employers()
    truth = fp.disparity(column(tables, "score"), sensitive_features=column(tables, "sex"))

    assert found.unseen == {}
    assert found.disparity.outer == found.disparity.certificate
    assert found.disparity.certificate.lower <= truth <= found.disparity.certificate.upper


def test_silos_are_described_by_the_rows_that_are_compared(found):
    tables = employers()

    for silo in found.silos:
        sex = tables[silo.silo]["sex"]
        assert silo.n == {label: (sex == label).sum() for label in SEX}
        assert not silo.withheld
        assert silo.interval is not None
        assert silo.note == ""


def test_the_result_is_read_back_and_fits_its_schema(found):
    document = json.loads(found.to_json())

    Draft202012Validator(schema("audit")).validate(document)
    assert fp.AuditResult.from_dict(document) == found


def test_reports_say_it_and_name_the_intersections(found, tmp_path):
    sentence = f"F{SAID[1:]}"

    pages = [markdown_report(found), found._repr_html_(), model_card_section(found)]
    for ending in ("html", "pdf", "xlsx"):
        found.save_report(tmp_path / f"report.{ending}")
    pages.append((tmp_path / "report.html").read_text(encoding="utf-8"))

    assert [place for place, page in enumerate(pages) if sentence not in page] == []
    assert all("no silo released it; at most" in page for page in (pages[0], pages[3]))


@pytest.mark.parametrize("template", ["ll144", "ugesp", "insurance", "ai-act", "hospital"])
def test_templates_say_that_the_intersections_have_nothing_to_compare(found, template):
    sections = filing(found, template).sections
    said = [sentence for each in sections for sentence in each.sentences]

    if template in ("ll144", "ugesp"):
        assert "Nothing is compared: fewer than two rows can be compared." in said
    assert sections


def test_the_next_axis_answers_where_the_first_has_one_known_category():
    plan = plan_of(unknown=("M",))

    found = audited(plan, employers())

    assert [each.group for each in found.groups] == [*RACE]
    assert found.warnings[0].text.endswith("the first numbers are those by race.")


def test_a_category_that_no_silo_released_is_set_aside_by_name():
    tables = employers()
    for table in tables.values():
        table["sex"][:3] = "X"

    found = audited(plan_of(axes={"sex": (*SEX, "X"), "race": RACE}), tables)
    (aside,) = found.set_aside

    assert aside.group == "X"
    assert aside.withheld == 5
    assert aside.most >= 15
    assert [each.code for each in found.warnings[:2]] == ["no_intersections", "group_set_aside"]
    truth = fp.disparity(column(tables, "score"), sensitive_features=column(tables, "sex"))
    assert found.disparity.outer.lower <= truth <= found.disparity.outer.upper
    assert all(silo.withheld.keys() == {"X"} for silo in found.silos)


def test_a_silo_that_sent_nothing_leaves_the_bounds_open():
    tables = employers()
    plan = plan_of(silos=[*tables, "late"])

    found = audited(plan, tables)

    assert found.disparity.verdict.all == "inconclusive"
    (words,) = (each.text for each in found.warnings if each.code == "unbounded")
    assert "[totals]" not in words  # a plan with axes has none


def test_a_silo_may_have_several_pieces_of_a_row():
    """One intersection besides a remainder: certificates read both pieces, numbers of the silo their sum."""
    plan, tables = plan_of(), employers()
    more = {"score": np.repeat([3.0, 5.0, 8.0], [6, 7, 7]), "race": np.repeat("A", 20)}
    messages = [
        prepare(table, plan=plan, silo=silo, score="score").sketch
        for silo, table in tables.items()
    ]
    alone = plan_of(axes={}, groups=("A", "B"), review_level=None)
    (sent, _) = prepare(more, plan=alone, silo="s0", score="score", group="race").sketch.cells
    cells = [replace(sent, group=("F", "A")), *messages[0].cells[1:]]
    messages[0] = replace(messages[0], cells=cells)
    tables["more"] = more | {"sex": np.repeat("F", 20)}

    found = fp.audit(plan, messages, redraws=30)

    _check(plan, tables, found)
    assert found.silos["s0"].n == {"F": 40, "M": 30}
    assert found.attribution.within == found.tables["sex"].attribution.within
    assert found.attribution.intervals.within is None
    assert {silo.interval for silo in found.silos} == {None}


@pytest.mark.parametrize(
    "display",
    [
        *("Attribution", "CellCount", "Decomposition", "GroupCDF", "GroupDensity"),
        *("GroupQuantile", "Influence", "LocalForest", "SiloSketch", "Uncertainty"),
    ],
)
def test_every_figure_of_a_result_draws_it(found, display):
    assert getattr(fp.plots, f"{display}Display").from_audit(found).figure_ is not None


def test_without_any_axis_the_error_stays_and_names_groups_in_words():
    with pytest.raises(GroupError, match="no silo released group 'F & A': 1 of 1") as caught:
        audited(plan_of(), employers(silos=1, size=12))

    assert caught.value.fix


def test_a_silo_that_states_a_thousand_times_as_many_in_a_table_by_axis_is_named():
    plan, tables = plan_of(sketch="quantile"), employers()
    messages = [
        prepare(table, plan=plan, silo=silo, score="score").sketch
        for silo, table in tables.items()
    ]
    tables = [
        replace(table, cells=[_enlarged(cell) for cell in table.cells])
        for table in messages[0].tables
    ]
    messages[0] = replace(messages[0], tables=tables)

    found = fp.audit(plan, messages, redraws=20)

    assert "implausible_count" in {each.code for each in found.warnings}


def _enlarged(cell):
    if not cell.count:
        return cell
    above = [None if each is None else each * 10_000 for each in cell.above]
    return replace(cell, count=cell.count * 10_000, above=above)


@pytest.mark.sampled
def test_bounds_by_the_axis_hold_for_all_records_of_all_silos():
    """Whatever is withheld: random tables of two or three axes, kinds, orders, unknown labels and outcomes."""
    answered = 0
    for seed in range(count(quick=12, all=24, soak=2000)):
        draw = np.random.default_rng(seed)
        plan, tables = _some_silos(draw)
        try:
            found = audited(plan, tables)
        except GroupError:
            continue
        if found.warnings[0].code != "no_intersections":
            continue
        answered += 1
        _check(plan, tables, found)

    assert answered


def _some_silos(draw):
    axes = {"sex": ("F", "M", "X")[: draw.integers(2, 4)], "race": RACE[: draw.integers(2, 4)]}
    if draw.random() < 0.2:
        axes["age"] = ("old", "young")
    least = int(draw.integers(3, 8))
    outcome = {"outcome": {"positive": 1, "negative": 0}} if draw.random() < 0.3 else {}
    unknown = {"unknown": (axes["sex"][1],)} if draw.random() < 0.2 else {}
    plan = plan_of(
        axes=axes,
        sketch=draw.choice(["counts", "mean", "quantile"]).item(),
        order=draw.choice([1, 2]).item(),
        disclosure={"minimum_cell": least, "records_per_level": least},
        **outcome,
        **unknown,
    )
    tables = {}
    for silo in range(draw.integers(1, 5)):
        size = int(draw.integers(2 * least, 14 * least))
        table = {
            name: draw.choice(labels, size, p=draw.dirichlet(np.full(len(labels), 3.0)))
            for name, labels in axes.items()
        }
        score = draw.normal(4 + (table["sex"] == "M"), 2, size)
        table["score"] = np.clip(np.round(score), 1, 10)
        table["outcome"] = draw.integers(0, 2, size)
        tables[f"s{silo}"] = table
    return plan, tables


def _check(plan, tables, found):
    """The numbers are those of the table by the axis, and hold for everybody in its categories."""
    first = found.groups[0].group
    by = next(name for name, labels in plan.axes.items() if first in labels)
    score, label = column(tables, "score"), column(tables, by)
    meant = [each.group for each in (*found.groups, *found.set_aside)]
    kept = np.isin(label, meant)
    truth = 0.0
    if np.unique(label[kept]).size > 1:
        truth = fp.disparity(score[kept], sensitive_features=label[kept], order=plan.order)
    lower, upper = found.disparity.outer

    assert found.disparity == found.tables[by].disparity
    assert lower - 1e-9 <= truth <= upper + 1e-9
    if not found.unseen and not found.set_aside:
        lower, upper = found.disparity.certificate
        assert lower - 1e-9 <= truth <= upper + 1e-9
    for row, rated in zip(found.groups, found.at_threshold(5, of="all").groups, strict=True):
        own = score[label == row.group]
        assert row.n <= own.size <= row.n + found.unseen.get(row.group, 0)
        assert rated.rate.lower - 1e-9 <= np.mean(own >= 5) <= rated.rate.upper + 1e-9
    for aside in found.set_aside:
        assert aside.most is None or np.sum(label == aside.group) <= aside.most


def noisy(mode, tables, **more):
    races = tuple(np.unique(column(tables, "race")).tolist())
    return plan_of(
        axes={"sex": SEX, "race": races},
        sketch=None,
        privacy={"mode": mode, "epsilon": 3.0},
        disclosure={"minimum_cell": 60},
        **more,
    )


@pytest.mark.parametrize("mode", ["dp", "secure+dp"])
def test_with_noise_the_first_axis_answers_too(mode):
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    tables = employers(size=100, races=[f"race {n}" for n in range(24)])
    plan = noisy(mode, tables, **({} if mode == "dp" else {"silos": [*tables]}))

    if mode == "dp":
        found = audited(plan, tables)
    else:
        whole = {name: column(tables, name) for name in ("sex", "race", "score")}
        whole["silo"] = np.repeat([*tables], 100)
        found = fp.audit(whole, plan=plan, silo="silo", score="score", redraws=200)

    assert [each.group for each in found.groups] == [*SEX]
    assert found.disparity == found.tables["sex"].disparity
    assert found.warnings[0].code == "no_intersections"
    assert "have enough records, once noise was added" in found.warnings[0].text
    assert all(silo.n.keys() == {*SEX} for silo in found.silos)
    assert fp.AuditResult.from_dict(json.loads(found.to_json())) == found
