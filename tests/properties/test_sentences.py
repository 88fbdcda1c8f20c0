"""No sentence of a report says something else than the numbers do."""

import re

import pytest
from hypothesis import given
from tests.report_results import result_of_silos, results

from fedparity.documents.result import headline_of
from fedparity.report import sentences
from fedparity.report.sentences.answers import (
    above_alone,
    comparable,
    level_share,
    noise_could_explain,
)
from fedparity.report.sentences.glossary import glossary
from fedparity.report.sentences.naming import VERDICTS, verdict_words
from fedparity.report.tables import all_rates
from fedparity.text import amount, number, percent, stated, told_apart

OF_ONE_RESULT = (
    *(
        "in_points",
        "points_range",
        "size",
        "how_large",
        "how_certain",
        "seen_alone",
        "why",
        "chance",
    ),
    *("in_means", "in_percent"),
    *("explain_decomposition", "explain_attribution", "explain_laws", "explain_accuracy"),
    *("explain_alone", "explain_influence", "explain_privacy", "levels_words"),
)
NUMBER = re.compile(r"−?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
CONSTANTS = ("1 time in", "Algorithm 1", "0 means", "For order 1", "at most 2√", "k midpoints")
"""Words with a digit that is no number of the result."""


def all_sentences(result):
    yield from (getattr(sentences, name)(result) for name in OF_ONE_RESULT)
    yield from sentences.what_is_missing(result)
    yield from sentences.next_steps(result)
    yield from filter(None, [sentences.worse_off(result)])
    yield from (words for _, words in filter(None, [sentences.verdict_for_all(result)]))
    yield from (meaning for _, meaning in glossary(result))
    for rates in all_rates(result):
        yield sentences.rates_heading(rates) + "."
        yield sentences.reading_rates(rates, result)


def numbers_of(document):
    """Every number that the JSON of a result holds, at any depth."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for held in document:
            yield from numbers_of(held)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield document


def derived(result):
    """Numbers that follow from the result: shares, differences, and counts of what it lists."""
    low, high = result.plan.score_range
    whole = result.disparity.value
    if whole > 0:
        yield from (
            part / whole for part in (result.attribution.selection, result.attribution.within)
        )
    yield (result.disparity.review_level or 0) * 100
    yield result.magnitudes.worst_pair.share_of_range * 100
    yield 1 / (result.disparity.p_value or 1)
    for rates in all_rates(result):
        yield from (100 * each for each in (rates.widest_gap.value, *rates.widest_gap.interval))
    yield result.guarantee["rounding"] * (high - low)
    points = 1 + round((high - low) / (result.plan.score_step or high - low))
    above = len(result.plan.thresholds)
    for values in (result.plan.levels, result.plan.levels + 1, 2 * points):
        yield len(result.groups) * (1 + values + above)
    yield from (
        each.rate.upper - each.rate.lower for rates in all_rates(result) for each in rates.groups
    )
    yield sum(silo.rows_dropped for silo in result.silos)
    yield len(result.silos_received) + len(result.silos_missing)
    yield from range(1 + max(len(result.silos) * (len(result.groups) + 1), 100))


def forms_of(value, level):
    """All ways in which a report may write a number."""
    forms = {number(value), stated(value), percent(value).removesuffix(" %"), amount(value)}
    forms |= {number(abs(value)), number(value, 2)}
    return forms if level is None else forms | {told_apart(value, level)}


@given(results())
def test_the_headline_says_the_verdict_and_no_other(result):
    """The words above, below, inconclusive stand there if and only if the verdict is that."""
    text = sentences.in_points(result)
    said = {
        "above": "above the review level" in text,
        "below": "below the review level" in text,
        "inconclusive": "inconclusive at the review level" in text,
        "none": "names no review level" in text,
    }
    found = result.disparity.verdict

    assert [word for word, is_there in said.items() if is_there] == [found.answered]
    assert ("among the silos that answered" in text) == (found.answered != found.all)
    assert f"{number(result.magnitudes.worst_pair.corrected, 2)} point" in text


@given(results())
def test_the_headline_names_the_higher_group_only_if_means_are_most_of_it(result):
    """And never where chance could explain all of it; the one it names has the higher mean."""
    worst, text = result.magnitudes.worst_pair, sentences.direction(result)
    level = level_share(result) >= 0.5
    named = worst.higher is not None and level and not noise_could_explain(result)

    assert ("higher than" in text) == named
    if named:
        lower = next(group for group in worst.groups if group != worst.higher)
        start = text.replace(" scores ", " ").split()
        means = {each.group: each.mean for each in result.groups}
        assert start[0] == worst.higher
        assert f"higher than {lower} (" in text
        assert means[worst.higher] > means[lower]
    assert ("spread, not in level" in text) == (not named and not noise_could_explain(result))


@pytest.mark.parametrize("silos", [1, 4, 60])
def test_of_two_groups_the_share_of_the_level_is_the_result_s_own(silos):
    """The bounds of magnitudes compute it from the laws, the sentence from the pair."""
    result = result_of_silos(silos)

    assert level_share(result) == pytest.approx(result.magnitudes.location_share.value, rel=1e-9)


@given(results())
def test_who_is_worse_off_follows_from_the_favorable_side(result):
    """The lower group where high scores are favorable; nobody where the plan does not say."""
    text, plan, worst = sentences.worse_off(result), result.plan, result.magnitudes.worst_pair
    is_stated = bool(plan.thresholds) or plan.favorable == "below"

    assert bool(text) == (is_stated and "higher than" in sentences.direction(result))
    if text:
        means = {each.group: each.mean for each in result.groups}
        worse = (min if plan.favorable == "above" else max)(worst.groups, key=means.__getitem__)
        assert text.endswith(f"so {worse} is worse off.")
        assert text.startswith("High" if plan.favorable == "above" else "Low")


@given(results())
def test_the_range_below_the_headline_is_that_of_the_verdict(result):
    """Its ends are told apart from the level, and lie on the side that the verdict names."""
    found, text = result.disparity, sentences.points_range(result)
    unit, level = found.review_unit, found.review_level
    lower, upper = result.magnitudes.worst_pair.combined
    if level is None or unit != "points":
        assert f"{number(lower)[:3]}" in text
        return

    assert f"{told_apart(lower, level)} to {told_apart(upper, level)} points" in text
    if found.verdict.answered == "above":
        assert lower > level
    if found.verdict.answered == "below":
        assert upper <= level


@given(results())
def test_what_the_missing_could_change_is_said_where_they_could(result):
    """With its own shape, word and range; not without a review level, nor where the ranges agree."""
    said, found = sentences.verdict_for_all(result), result.disparity

    could = found.review_level is not None and found.compared.all != found.compared.answered
    assert (said is not None) == could
    if said is not None:
        shape, words = said
        assert shape == VERDICTS[found.verdict.all].shape
        assert words.startswith(f"If the missing data could be anything: {found.verdict.all}")


@given(results())
def test_an_end_of_a_verdict_never_looks_like_the_level_unless_it_is(result):
    """A number beyond the level is told apart from it."""
    found, said = result.disparity, sentences.verdict_for_all(result)
    if said is None or found.review_unit == "share":
        return
    level, low, high = NUMBER.findall(said[1].replace("G₂", "").replace("G₁", ""))

    assert (low == level) == (found.compared.all.lower == found.review_level)
    assert (high == level) == (found.compared.all.upper == found.review_level)


@given(results())
def test_the_next_step_is_that_of_the_verdict(result):
    """Ask the missing first; then what the verdict calls for, and nothing else."""
    steps = sentences.next_steps(result)
    expected = {
        "above": "Review why",
        "below": "Keep this result",
        "inconclusive": ("More", "Less noise"),
        "none": "Agree on a review level",
    }[result.disparity.verdict.answered]

    assert steps[-1].startswith(expected)
    assert len(steps) == 1 + bool(result.silos_missing)
    assert not result.silos_missing or steps[0].startswith("Ask ")


@given(results())
def test_every_warning_is_said_with_its_code(result):
    """At the top or among what weakens the numbers: no code is lost."""
    said = {each.code for each in sentences.what_weakens(result)}
    first = {"group_set_aside", "silos_missing", "silos_dropped_out", "implausible_count"}
    first |= {"no_intersections"}

    assert {warning.code for warning in result.warnings} <= said | first


@given(results())
def test_whoever_is_left_out_is_named_first(result):
    """Groups set aside and silos that sent nothing, before all else that is missing."""
    told = sentences.left_out(result)

    assert sentences.what_is_missing(result)[: len(told)] == told
    assert len(told) == len(result.set_aside) + bool(result.silos_missing)
    assert not set(told) & {each.text for each in sentences.what_weakens(result)}


@given(results())
def test_rates_say_the_answer_and_no_other(result):
    """Below, at least, or not to be told, as the result has it; for all only where some are missing."""
    said = {
        "below four fifths": "is below four fifths",
        "at least four fifths": "is at least four fifths",
        "undetermined": "cannot be told from four fifths by this summary",
    }
    for rates in all_rates(result):
        text = sentences.reading_rates(rates, result)
        beyond = f"If the missing data could be anything: it {said[rates.all]}."
        words = text.replace(beyond, "")

        assert (beyond in text) != sentences.is_complete(result)
        for answer, phrase in said.items():
            assert (phrase in words) == (rates.answer == answer)


@given(results())
def test_every_number_of_a_sentence_is_one_of_the_result(result):
    """A sentence computes nothing: its numbers are written forms of the JSON's."""
    level = headline_of(result).level or result.disparity.review_level
    held = {*numbers_of(result.to_dict()), *derived(result)}
    allowed = set().union(*(forms_of(value, level) for value in held))

    for text in all_sentences(result):
        words = text
        for constant in CONSTANTS:
            words = words.replace(constant, "")
        words = re.sub(r"silo \d{4}|\bs\d\b", "", words)  # names
        assert set(NUMBER.findall(words.replace("V_", ""))) <= allowed, text


@given(results())
def test_the_part_that_is_named_is_the_larger_one(result):
    """Most of it is selection only if selection is larger, and the same for within."""
    parts, text = result.attribution, sentences.why(result)
    selection = "how the groups are spread over the silos" in text
    within = "how the groups score inside silos" in text

    assert not (selection and within)
    assert not selection or parts.selection > parts.within
    assert not within or parts.within > parts.selection
    if "Most of it" in text:
        assert min(parts.selection, parts.within) >= 0
    if "oppose" in text:
        assert min(parts.selection, parts.within) < 0 < max(parts.selection, parts.within)


@given(results())
def test_overlapping_intervals_leave_open_which_part_is_larger(result):
    """If one number lies in both intervals, the order of the parts is not certain."""
    first, second = result.attribution.intervals.selection, result.attribution.intervals.within
    text = sentences.why(result)
    overlap = max(first.lower, second.lower) <= min(first.upper, second.upper)

    assert ("not certain" in text) == (overlap and ("Most of it" in text or "oppose" in text))


@given(results())
def test_parts_are_never_called_causes(result):
    """Whatever is attributed, the limits of the attribution are said with it."""
    text = sentences.why(result)

    assert text == "There is nothing to attribute." or text.endswith("does not explain causes.")
    others = " ".join(all_sentences(result)).replace("because its score was missing", "")
    assert "because" not in others


@given(results())
def test_noise_is_named_exactly_where_it_could_explain_the_result(result):
    """The p-value above the error of the intervals, and only then."""
    could = result.disparity.p_value > 1 - result.confidence

    assert noise_could_explain(result) == could
    assert ("chance could explain what was found" in sentences.how_certain(result)) == could


@given(results())
def test_what_silos_see_alone_is_counted_right(result):
    """No silo is said to be above the level unless its value is, and none is left out."""
    shown, text = headline_of(result), sentences.seen_alone(result)
    alone = [getattr(silo, shown.alone) for silo in comparable(result)]
    if len(result.silos_received) == 1:
        return

    assert number(max(alone))[:4] in text
    assert text.count("counts chance too") == 1
    bar = shown.found.corrected if shown.level is None else shown.level
    many = sum(value >= bar if shown.level is None else value > bar for value in alone)
    start = "No silo" if not many else "All" if many == len(alone) > 1 else f"{many} of"
    assert text.startswith(f"{start} ")
    assert shown.level is None or len(above_alone(result)) == many


@given(results())
def test_words_of_judgement_are_not_used(result):
    """A report measures; it does not judge."""
    text = " ".join((*all_sentences(result), *sentences.does_not_prove())).lower()

    for word in ("pass", "fail", "fair", "bias", "discriminat", "proves", "guilty"):
        assert word not in text


@given(results())
def test_sentences_end_and_start_as_sentences_do(result):
    """Each starts with a capital, a number or a name, ends with a period, has no double space."""
    aside = [f"{each.group}: " for each in result.set_aside]
    for text in (*all_sentences(result), verdict_words(result) + "."):
        if text == sentences.size(result):
            continue
        assert text.endswith(".")
        assert text[0].isupper() or text[0] in "<−0123456789" or text.startswith(("k = ", *aside))
        assert "  " not in text
        assert ".." not in text
        assert " ." not in text


@given(results())
def test_order_1_knows_no_square_and_no_remainder(result):
    """G1 is in score points; the triangle has no R."""
    text = " ".join(all_sentences(result))
    first = result.plan.order == 1

    assert ("squared score points" in sentences.how_certain(result)) != first
    assert ("R is the interaction" in text) != first
    assert ("triangle inequality" in text) == first
    assert ("G₂" in text) != first


@pytest.mark.parametrize("name", sentences.__all__)
def test_what_the_package_offers_is_there(name):
    assert callable(getattr(sentences, name))
