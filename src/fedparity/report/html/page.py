"""The page: one file with its style, its script, its figures and tables, and the whole result in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, headline_of
from fedparity.documents.result_parts import group_key
from fedparity.errors.base import check_html
from fedparity.plots.silo_forest import silo_rows
from fedparity.report import sentences, tables
from fedparity.report.formats import Preparation, circumstances
from fedparity.report.html.markup import (
    Isolation,
    Markup,
    Values,
    embedded,
    escaped,
    hash_source,
)
from fedparity.report.html.page_figures import are_few, page_figures, strip
from fedparity.report.outcome_tables import outcome_blocks
from fedparity.report.sentences.answers import NO_RATES
from fedparity.report.sentences.glossary import glossary
from fedparity.report.sentences.naming import (
    counted_in,
    is_summed,
    level_words,
    mark_of,
    short,
    verdict_reason,
    verdict_words,
)
from fedparity.report.tables import READING_MAGNITUDES, SiloColumn, Table, all_rates, rate_tables
from fedparity.text import number, pointer

__all__ = [
    "Fact",
    "SiloRow",
    "SiloTable",
    "content_policy",
    "environment",
    "guarantee",
    "html_report",
    "isolation_of",
    "page_tables",
    "provenance",
    "said",
    "silo_table",
]

_FOLDED: Final = 60
"""Beyond this many silos the table starts folded; the page's script unfolds it."""

_UPRIGHT: Final = 8
"""Columns of numbers that fit an upright page."""


def page_tables(result: AuditResult, silos: Iterable[int]) -> dict[str, Table]:
    """Return the tables by name; that of the silos' quantiles holds the silos named."""
    return {
        "groups": tables.groups(result),
        "magnitudes": tables.magnitudes(result),
        "pairs": tables.pairs(result),
        "pair_details": tables.pairs(result, details=True),
        "curves": tables.curves(result),
        "quantiles": tables.silo_quantiles(result, silos),
        "parts": tables.parts(result),
        "terms": tables.terms(result),
        "accuracy": tables.accuracy(result),
    }


class SiloRow(NamedTuple):
    """A silo and its cells, as text in the order of the columns."""

    silo: str
    cells: tuple[str, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class SiloTable:
    """All silos that sent something, and the names of those that did not."""

    columns: tuple[SiloColumn, ...]
    """None where only sums over silos were seen."""
    rows: tuple[SiloRow, ...]
    missing: tuple[str, ...]
    counts: str
    """What is counted: records, or their weight."""

    @property
    def folded(self) -> bool:
        """Whether there are too many rows to show at once."""
        return len(self.rows) + len(self.missing) > _FOLDED

    @property
    def noted(self) -> bool:
        """Whether there is anything to say in a column of notes."""
        return bool(self.missing) or any(row.note for row in self.rows)

    @property
    def wide(self) -> bool:
        """Whether a printed page must be turned to hold it."""
        return len(self.columns) > _UPRIGHT


def silo_table(result: AuditResult, document: Mapping[str, Any]) -> SiloTable:
    """Return the table; ``document`` is the JSON of the result."""
    columns = () if is_summed(result) else _columns(result)
    return SiloTable(
        columns=columns,
        rows=tuple(
            SiloRow(
                silo.silo,
                tuple(
                    tables.cell_text(tables.silo_cell(column, position), document)
                    for column in columns
                ),
                silo.note,
            )
            for position, silo in enumerate(result.silos)
        ),
        missing=result.silos_missing,
        counts=counted_in(result),
    )


def _columns(result: AuditResult) -> tuple[SiloColumn, ...]:
    """The records of each group, then what all formats show, and of two groups the gap of means."""
    *alone, influence = tables.silo_columns(result)
    counts = (
        SiloColumn(
            group_words(each.group),
            pointer("silos", "*", "n", group_key(each.group)),
            "amount",
            over=counted_in(result),
        )
        for each in result.groups
    )
    gap = SiloColumn("mean gap", "/silos/*/mean_gap", "signed")
    return (*counts, *alone, *([gap] if len(result.groups) == 2 else []), influence)


_NEAR_THE_EDGE = 24
"""Percent of the width: a label so near to it is written inwards, with room for it on a phone."""


@cache
def environment() -> Any:  # noqa: ANN401 -- of an optional package
    """Return the environment of the templates.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.
    """
    check_html()
    jinja2 = import_module("jinja2")
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("fedparity.report.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(anchor=_anchor, tick=number)
    return made


def _anchor(place: float) -> Markup:
    """How a label at a place in percent is aligned, so that it stays inside."""
    if place < _NEAR_THE_EDGE:
        return Markup(' text-anchor="start"')
    return Markup(' text-anchor="end"' if place > 100 - _NEAR_THE_EDGE else "")


def content_policy(*, style: str, script: str) -> str:
    """Return the Content-Security-Policy under which exactly these two texts are used.

    Nothing is fetched, framed, sent or based elsewhere, no attribute holds style or script, and
    no text becomes markup (Trusted Types). Saving the result needs none of it: a link to a
    ``blob:`` is followed, not fetched.

    Examples
    --------
    >>> content_policy(style="p {}", script="").split("; ")[:2]
    ["default-src 'none'", "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    rules = (
        "default-src 'none'",
        f"script-src {hash_source(script)}",
        f"style-src {hash_source(style)}",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return "; ".join(rules)


def isolation_of(result: AuditResult) -> Isolation:
    """Return what escapes sentences about this result; they may hold a name, or its beginning."""
    measured = (each.group for each in result.groups)
    aside = (each.group for each in result.set_aside)
    groups = map(group_words, (*measured, *aside))
    names = [*groups, *result.silos_received, *result.silos_missing]
    return Isolation([*names, *map(short, names)])


def said(result: AuditResult) -> Mapping[str, Any]:
    """Return the sentences of the page by their place in it."""
    safe = isolation_of(result)
    single = {
        "headline": sentences.in_points,
        "range": sentences.points_range,
        "size": sentences.size,
        "how_large": sentences.how_large,
        "how_certain": sentences.how_certain,
        "seen_alone": sentences.seen_alone,
        "why": sentences.why,
        "worse_off": sentences.worse_off,
        "dominates": sentences.what_dominates,
        "in_means": sentences.in_means,
        "in_percent": sentences.in_percent,
        "chance": sentences.chance,
        "laws": sentences.explain_laws,
        "alone": sentences.explain_alone,
        "influence": sentences.explain_influence,
        "attribution": sentences.explain_attribution,
        "decomposition": sentences.explain_decomposition,
        "accuracy": sentences.explain_accuracy,
        "privacy": sentences.explain_privacy,
    }
    words: dict[str, Any] = {name: safe(sentence(result)) for name, sentence in single.items()}
    for_all = sentences.verdict_for_all(result)
    words["shares"] = sentences.shares(result)
    words["for_all"] = None if for_all is None else (for_all[0], safe(for_all[1]))
    words["left_out"] = tuple(map(safe, sentences.left_out(result)))
    words["next"] = safe(" ".join(sentences.next_steps(result)))
    words["missing"] = tuple((code, safe(text)) for code, text in sentences.what_weakens(result))
    words["glossary"] = tuple((safe(term), safe(text)) for term, text in glossary(result))
    words["rates"] = tuple(
        safe(sentences.reading_rates(each, result)) for each in all_rates(result)
    )
    words["limits"] = tuple(map(escaped, sentences.does_not_prove()))
    words["command"] = escaped(sentences.reproduce_command(result))
    words["command_words"] = escaped(sentences.reproduce_words(result))
    return words


Fact: TypeAlias = tuple[str, str, str]
"""A name, the path of a value in the JSON, and how it is written."""

_TERMS: Mapping[str, str] = {
    "mode": "privacy mode",
    "epsilon": "epsilon, per release",
    "minimum_cell": "smallest cell released, in records",
    "records_per_level": "records per value, at least",
    "rounding": "rounding, as a share of the score range",
}
"""Names of the terms that are known; an unknown one is shown by its own."""


def guarantee(document: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return every term of the guarantee, known ones first, whatever it holds."""
    terms = document["guarantee"]
    known = [name for name in _TERMS if name in terms]
    names = [*known, *sorted(set(terms) - set(known))]
    return tuple(
        (_TERMS.get(name, name), pointer("guarantee", name), _form(terms[name])) for name in names
    )


def _form(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "stated" if number else "text"


def provenance(result: AuditResult) -> tuple[Fact, ...]:
    """Return the fields that say how to make the result again."""
    return (
        ("plan", "/plan/title", "text"),
        ("digest of the plan", "/plan/digest", "text"),
        ("sketches", "/plan/sketch", "text"),
        ("levels, k", "/plan/levels", "amount"),
        ("estimator", "/plan/estimator", "text"),
        ("order, p", "/plan/order", "amount"),
        ("score range", "/plan/score_range", "span"),
        ("trim", "/plan/trim", "stated"),
        ("confidence of the intervals", "/confidence", "percent"),
        ("redraws", "/redraws", "amount"),
        ("seed", "/seed", "amount"),
        (counted_in(result), "/n", "amount"),
        ("software", "/software", "text"),
        ("format of the result", "/schema", "text"),
        *(
            [("signed with the key", "/signature/key", "text")]
            if result.signature is not None
            else [("signature", "/signature", "text")]
        ),
    )


_CONTENTS = (
    ("groups", "Rates at thresholds"),
    ("laws", "How different are the groups?"),
    ("local", "Would a silo see it alone?"),
    ("sources", "Where does it come from?"),
    ("silos", "The silos"),
    ("sure", "How sure is it?"),
    ("privacy", "What did the silos release?"),
    ("provenance", "Where do the numbers come from?"),
    ("limits", "What this does not show"),
    ("glossary", "Glossary"),
)
"""Name and heading of each section, in the order of the page."""
_OUTCOMES = ("outcomes", "By axis and by outcome")
"""The second section, where a plan has axes or an outcome."""


def _contents(result: AuditResult, *, has_rates: bool) -> tuple[tuple[str, str], ...]:
    """The sections of a page; one that only says that there are no rates does not come first."""
    rates, *others = _CONTENTS
    before = [rates] if has_rates else []
    if result.tables:
        before.append(_OUTCOMES)
    if not has_rates:
        others.insert([name for name, _ in others].index("privacy"), rates)
    return (*before, *others)


_SCRIPTS = "result", "describing", "tip", "figures", "table", "scrolling", "saving"
"""Parts of the script, in the order in which they use each other."""


def html_report(result: AuditResult, prepared: Preparation | None = None) -> str:
    """Return the report of a result as one self-contained HTML page.

    The page fetches nothing and sends nothing, and a policy inside it lets the browser run its
    own script only. Equal arguments give equal bytes.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.

    Examples
    --------
    >>> from fedparity import simulate
    >>> table = {"z": [1.0, 2.0, 3.0, 5.0], "g": ["a", "b", "a", "b"], "s": ["x", "x", "y", "y"]}
    >>> result = simulate(table, score="z", group="g", silo="s", score_range=(0, 9), levels=2)
    >>> html_report(result).startswith("<!DOCTYPE html>")
    True
    """
    template = environment().get_template("page.html.jinja")
    page: str = template.render(_context(result, prepared))
    return page


def _context(result: AuditResult, prepared: Preparation | None) -> dict[str, Any]:
    """Everything that the templates name."""
    document = result.to_dict()
    words, headline = said(result), headline_of(result)
    rows = silo_rows([headline.of_silo(silo) for silo in result.silos])
    style, script = _asset("style.css"), _script()
    return {
        "policy": content_policy(style=style, script=script),
        "style": Markup(style),
        "script": Markup(script),
        "embedded": Markup(embedded(result.to_json())),
        "document": document,
        "value": Values(document),
        "contents": _contents(result, has_rates=bool(words["rates"])),
        "outcome_blocks": outcome_blocks(result) if result.tables else (),
        "said": words,
        "verdict": {
            "word": mark_of(result).word,
            "shape": mark_of(result).shape,
            "words": verdict_words(result),
            "reason": verdict_reason(result),
        },
        "circumstances": isolation_of(result)(" · ".join(circumstances(result, prepared))),
        "unit": headline.in_points.strip(),
        "measured": headline.name.capitalize(),
        "review": level_words(result),
        "headline": pointer(*headline.at),
        "strip": strip(result),
        "largest_alone": _largest_alone(result),
        "figures": page_figures(result),
        "tables": page_tables(result, rows.places),
        "rate_tables": rate_tables(result),
        "has_steps": result.plan.score_step is not None,
        "no_rates": NO_RATES,
        "reading_magnitudes": READING_MAGNITUDES,
        "silos": silo_table(result, document),
        "guarantee": guarantee(document),
        "provenance": provenance(result),
        "chosen": bool(rows.hidden),
        "side_by_side": are_few(result),
        "file_name": "fedparity-result.json",
    }


def _asset(name: str) -> str:
    return files("fedparity.report.html").joinpath("assets", name).read_text("utf-8")


def _script() -> str:
    """All parts in one scope, which nothing else on the page shares."""
    parts = "\n".join(_asset(f"{part}.js") for part in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _largest_alone(result: AuditResult) -> str:
    """The path of the most that a silo shows alone, in the headline's unit; empty if none does."""
    shown = headline_of(result)
    known = [
        (value, -index)
        for index, silo in enumerate(result.silos)
        if (value := shown.of_silo(silo)) is not None
    ]
    return f"/silos/{-max(known)[1]}/{shown.alone}" if known else ""
