"""The questions of ``fedparity plan new``, which fill the options that are not given.

Every answer is checked at once, against the ones before it. Answers are kept in a draft file until the plan
is written, so that an interruption or a later mistake loses none.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import click

from fedparity.cli.output import note
from fedparity.cli.plans.plan_options import TERMS, NewPlanOptions, as_label
from fedparity.cli.plans.plan_text import on_the_scale, review_picture
from fedparity.documents.files import read_bounded, write_whole
from fedparity.documents.plan import unreachable_level
from fedparity.documents.plan_fields import SCALARS, ReviewUnit
from fedparity.documents.plan_rules import default_sketch, settle
from fedparity.errors import DocumentError, PlanError
from fedparity.errors.base import printable
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import MODES, NOISY_MODES, Mode, whole_steps
from fedparity.sketches.kinds import DEFAULT_LEVELS
from fedparity.text import number, wrapped

__all__ = ["Draft", "ask"]

_DRAFT_SCHEMA = "fedparity/plan-draft/1"
_LARGEST_DRAFT = 1_000_000
_WIDTH = 80


@dataclass
class Draft:
    """The answers given so far, as typed, by key, in a file next to the plan."""

    path: Path
    answers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def beside(cls, plan_file: str) -> Draft:
        """Return the draft of a plan file; without answers if there is no draft, or if it is not readable."""
        draft = cls(Path(f"{plan_file}.draft"))
        if not os.path.lexists(draft.path):
            return draft
        try:
            found = json.loads(read_bounded(draft.path, limit=_LARGEST_DRAFT))
            if found["schema"] == _DRAFT_SCHEMA:
                draft.answers = {str(key): str(text) for key, text in found["answers"].items()}
        except (DocumentError, ValueError, KeyError, TypeError, AttributeError):
            warning = (
                f"warning: {printable(draft.path)} is not a draft of a plan; it will be replaced"
            )
            click.echo(warning, err=True)
        return draft

    def keep(self, key: str, text: str) -> None:
        """Write one more answer to the file."""
        self.answers[key] = text
        document = {"schema": _DRAFT_SCHEMA, "answers": self.answers}
        write_whole(self.path, json.dumps(document, indent=1).encode(), force=True)

    def discard(self) -> None:
        """Forget all answers, and remove the file."""
        self.answers = {}
        self.path.unlink(missing_ok=True)


Reader = Callable[[str, NewPlanOptions], Any]


@dataclass(frozen=True)
class _Question:
    """One question: its text, how an answer is read, and the condition under which it is asked."""

    key: str
    """The field of the options that the answer fills."""
    prompt: str
    explain: Callable[[NewPlanOptions], str]
    """What to know before answering; an empty line, or one that starts with a space, stays as it is."""
    read: Reader = lambda text, _: text.strip()
    default: str = ""
    fix: str = ""
    """What to type instead of an invalid answer, where the fix of the error refers to a file."""
    applies: Callable[[NewPlanOptions], bool] = lambda _: True

    def answered(self, options: NewPlanOptions, text: str) -> NewPlanOptions:
        """Return the options with this answer.

        Raises
        ------
        click.UsageError
            If it is not valid, by itself or together with earlier answers.
        """
        try:
            changed = replace(options, **{self.key: self.read(text, options)})
        except PlanError as error:
            raise click.UsageError(str(error)) from None
        problem = _problem(changed, self.key)
        if problem is not None:
            raise click.UsageError(f"{problem.message}\nfix: {self.fix or problem.fix}")
        return changed


def ask(options: NewPlanOptions, given: Collection[str], draft: Draft) -> NewPlanOptions:
    """Return the options with an answer for everything that is not ``given``.

    Answers of the draft are used where they are still valid; every new one is added to it.
    """
    resumed = draft.answers
    for question in _QUESTIONS:
        if question.key in given or not question.applies(options):
            continue
        if (kept := resumed.get(question.key)) is not None:
            try:
                options = question.answered(options, kept)
            except (
                click.UsageError
            ):  # an option of this start contradicts an answer of an earlier one
                pass
            else:
                note(f"{question.prompt}: {printable(kept)}")
                continue
        options, text = _prompted(question, options)
        draft.keep(question.key, text)
        if question.key == "review_level" and options.review_level is not None:
            note("\n".join(["", *_review_picture(options)]))
    return options


def _prompted(question: _Question, options: NewPlanOptions) -> tuple[NewPlanOptions, str]:
    """Ask until the answer is valid; the reason is printed if it is not."""
    note("")
    for line in question.explain(options).splitlines():
        note(line if line[:1] in (" ", "") else "\n".join(wrapped(line, _WIDTH)))

    def checked(text: str) -> tuple[NewPlanOptions, str]:
        try:
            return question.answered(options, text), text
        except click.UsageError as error:  # click prints it after its own "Error: "
            lines = f"Error: {error.message}".splitlines()
            flowed = "\n".join(row for line in lines for row in wrapped(line, _WIDTH))
            raise click.UsageError(flowed.removeprefix("Error: ")) from None

    answered: tuple[NewPlanOptions, str] = click.prompt(
        question.prompt,
        default=question.default,
        show_default=bool(question.default),
        value_proc=checked,
        err=True,
    )
    return answered


def _problem(options: NewPlanOptions, key: str) -> PlanError | None:
    """What is wrong with a key of the plan, given those that are known."""
    known = {name: getattr(options, name, None) for name in SCALARS}
    known["privacy"] = options.terms
    given = {name: value for name, value in known.items() if value not in (None, (), "")}
    if key == "privacy" and options.privacy in NOISY_MODES:  # epsilon is asked for next
        given["privacy"] = {"epsilon": 1.0, **(options.terms or {})}
    path = "privacy" if key in TERMS else key
    _, problems = settle(given)
    found = (each.error for each in problems if each.path[0] == path and path in given)
    return next(found, None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PlanError(
            f"{text!r} is not a number.", fix="write a number, with a point: 0.5."
        ) from None


def _number_or_none(text: str, _: NewPlanOptions) -> float | None:
    return _number(text) if text.strip() else None


def _whole_or_none(text: str, _: NewPlanOptions) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal():
        raise PlanError(f"{text!r} is not a whole number.", fix="write digits only: 5000.")
    return int(text)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_PAIR = re.compile(rf"\s*{_NUMBER}(?:\s*(?:,|;|–|to|and)\s*|\s+|(?<=\d)-(?=[\d.])){_NUMBER}\s*")


def _ends(text: str, _: NewPlanOptions) -> tuple[float, float]:
    """Two numbers, as people write a range: 0 10, 0 to 10, 0-10."""
    found = _PAIR.fullmatch(text)
    if found is None:
        raise PlanError(
            f"{text!r} is not the lowest and the highest score.",
            fix="write two numbers, the lower one first: 0 10.",
        )
    return float(found[1]), float(found[2])


def _groups(text: str, _: NewPlanOptions) -> tuple[Group, ...]:
    labels = _split(text)
    if len(labels) < 2:
        raise PlanError(
            f"{text.strip()!r} is one group, and there is nothing to compare it with.",
            fix="write two labels or more, separated by commas: women, men.",
        )
    return tuple(as_label(label) for label in labels)


def _days(text: str, _: NewPlanOptions) -> tuple[str, str] | None:
    """Two dates as they were typed; the plan says whether they exist."""
    words = [word for word in re.findall(r"[^\s,;]+", text) if word not in ("to", "and")]
    if not words:
        return None
    if len(words) != 2 or max(words) != words[1]:  # such dates are in the order of their texts
        raise PlanError(
            f"{text.strip()!r} is not two dates, the earlier one first.",
            fix="write them as 2026-10-01 2026-12-31, or nothing.",
        )
    return words[0], words[1]


def _choice(meanings: Mapping[str, str], what: str) -> Reader:
    """Return the reader of one of a few words."""

    def read(text: str, _: NewPlanOptions) -> str:
        word = text.strip().lower()
        if word not in meanings:
            listed = ", ".join(meanings)
            raise PlanError(f"{text!r} is not {what}.", fix=f"write one of: {listed}.")
        return meanings[word]

    return read


def _same(kind: object) -> dict[str, str]:
    return {choice: choice for choice in get_args(kind)}


def _level(text: str, options: NewPlanOptions) -> float | None:
    level = _number_or_none(text, options)
    if level is not None and options.score_range is not None:
        reason = unreachable_level(level, options.review_unit, options.score_range)
        if reason:
            raise PlanError(
                f"{reason}.", fix="write a smaller number, or start with another unit."
            )
    return level


def _explain_groups(_: NewPlanOptions) -> str:
    return (
        "Which groups are compared? Write their labels as in the silos' tables; "
        "a silo whose labels differ can translate them."
    )


def _explain_step(options: NewPlanOptions) -> str:
    return (
        "Do scores come in steps? Whole numbers: 1. Two decimals: 0.01. If the steps leave at most "
        f"{options.levels:,} possible scores, silos send a count at each, and the answer is exact."
    )


def _explain_review_unit(options: NewPlanOptions) -> str:
    low, high = options.score_range or (0.0, 1.0)
    level = 0.05 * (high - low)
    picture = "\n".join(review_picture((low, high), level))
    small, middle, large = (number(share * (high - low)) for share in (0.02, 0.05, 0.1))
    scale = f"{number(low)}–{number(high)}"
    return (
        "How far may the groups be apart before you want a review? The distance is how far apart "
        "two people of the same rank are, one of each group, over all ranks:\n"
        f"\n{picture}\n\n"
        "No law fixes the number. You can state it\n"
        f"  points   in score points: {small}, {middle} or {large} on your {scale} scale, say\n"
        "  share    as a share of the range: 0.02, 0.05 or 0.1\n"
        "  sd       in standard deviations of the score; a rule of thumb (Cohen's) calls\n"
        "           0.2 small, 0.5 medium and 0.8 large\n"
        "  squared  as the disparity G of the paper, for experts"
    )


def _review_picture(options: NewPlanOptions) -> list[str]:
    """The level that was chosen, drawn."""
    bounds, level = options.score_range, options.review_level
    if bounds is None or level is None:
        return []
    share, words = on_the_scale(level, options.review_unit, bounds)
    return review_picture(bounds, share * (bounds[1] - bounds[0]), words)


_SILOS = (
    "Which silos take part? With a roster, missing ones are reported and any other is refused."
)
_PRIVACY = """\
How are single records protected?
  none       disclosure rules only: small groups are withheld, and values are
             rounded averages of 10 records or more. The usual choice
  dp         each silo adds noise, so that one record more or less hardly shows
             (differential privacy); needs large groups: fedparity plan privacy
  secure     the auditor sees sums over silos only; needs 3 silos or more, and
             several rounds of files
  secure+dp  both"""


def _is_noisy(options: NewPlanOptions) -> bool:
    return options.privacy in NOISY_MODES


def _sends_levels(options: NewPlanOptions) -> bool:
    """Whether the number of values matters: not for counts at each score, nor for histograms."""
    bounds, step = options.score_range, options.score_step
    steps = None if bounds is None or step is None else whole_steps(bounds, step)
    kind = options.sketch or default_sketch(None if steps is None else steps + 1, options.levels)
    return options.privacy == "none" and kind != "counts"


_QUESTIONS = (
    _Question(
        "title",
        "Title",
        lambda _: "What is audited? One line, which every silo will read.",
        default="Risk score audit",
    ),
    _Question(
        "groups",
        "Groups, separated by commas",
        _explain_groups,
        _groups,
        default="A, B",
        fix="write two labels or more, separated by commas: women, men.",
    ),
    _Question(
        "score_range",
        "Lowest and highest possible score",
        lambda _: (
            "Between which values can a score lie? By its definition: do not look into data for this."
        ),
        _ends,
        default="0 1",
        fix="write two numbers, the lower one first: 0 10.",
    ),
    _Question(
        "score_step",
        "Step of the scores (empty: any number is possible)",
        _explain_step,
        _number_or_none,
        fix="write the distance of neighboring scores, such as 1 or 0.01, or nothing.",
    ),
    _Question(
        "favorable",
        "Is a high score good or bad for the person",
        lambda _: "A credit score: good. A risk of fraud or of reoffending: bad.",
        _choice(
            {"good": "above", "bad": "below", "above": "above", "below": "below"},
            "good or bad",
        ),
        default="good",
    ),
    _Question(
        "thresholds",
        "Thresholds, separated by commas (empty: none)",
        lambda _: (
            "Does a decision change at some score, such as refused below 5? Silos then count records on "
            "both sides of it, for rates and their ratios. A score equal to it is above it."
        ),
        lambda text, _: tuple(sorted(map(_number, _split(text)))),
        fix="write scores inside the range, separated by commas, or nothing.",
    ),
    _Question(
        "review_unit",
        "Unit of the review level (points, share, sd, squared)",
        _explain_review_unit,
        _choice(_same(ReviewUnit), "a unit"),
        default="points",
    ),
    _Question(
        "review_level",
        "Review level (empty: none)",
        lambda _: "Above it the audit says: review. Without one it gives numbers and no verdict.",
        _level,
        fix="write a number above 0, or nothing.",
    ),
    _Question(
        "period",
        "First and last day of the records (empty: not stated)",
        lambda _: "Which records are meant? Two dates, such as 2026-10-01 2026-12-31.",
        _days,
        fix="write two dates, the earlier one first, or nothing.",
    ),
    _Question(
        "silos",
        "Silos, separated by commas (empty: any)",
        lambda _: _SILOS,
        lambda text, _: _split(text),
        fix="name each silo once, or write nothing.",
    ),
    _Question(
        "privacy",
        f"Privacy mode ({', '.join(MODES)})",
        lambda _: _PRIVACY,
        _choice(_same(Mode), "a privacy mode"),
        fix="write none or dp; a sum needs a list of three silos or more: start again for it.",
        default="none",
    ),
    _Question(
        "epsilon",
        "Privacy loss epsilon",
        lambda _: "Smaller protects more and blurs more; 1 is common.",
        lambda text, _: _number(text),
        default="1",
        applies=_is_noisy,
    ),
    _Question(
        "records",
        "Records of the smallest group in all silos (empty: unknown)",
        lambda _: (
            "Roughly, from public knowledge, never from the data: it sets how fine the bins are."
        ),
        _whole_or_none,
        applies=_is_noisy,
    ),
    _Question(
        "levels",
        "Values per group and silo, at most",
        lambda _: (
            "Each silo sends averages of its scores between ranks. More of them are finer; the rules "
            "give small groups fewer."
        ),
        lambda text, _: _whole_or_none(text, _) or 0,
        fix="write a whole number, such as 100.",
        default=str(DEFAULT_LEVELS),
        applies=_sends_levels,
    ),
)
