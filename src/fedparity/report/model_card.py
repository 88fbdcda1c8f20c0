"""The result as a section of a model card, in the form of the Hugging Face Hub.

The metadata are those of the Hub's ``model-index`` (one result with several metrics); the headings
are those of its template. Both are meant to be merged into a card that describes the model.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import ThresholdResult, as_json
from fedparity.report import tables
from fedparity.report.formats import Preparation, circumstances
from fedparity.report.markdown import first_lines, plain, rate_blocks, table_lines
from fedparity.report.sentences.answers import (
    how_certain,
    how_large,
    in_points,
    rates_heading,
    seen_alone,
)
from fedparity.report.sentences.caveats import (
    does_not_prove,
    explain_laws,
    explain_privacy,
    weakening,
)
from fedparity.report.sentences.naming import groups_words, mark_of, silos_words
from fedparity.report.sentences.origins import why
from fedparity.report.tables import READING_MAGNITUDES, all_rates

__all__ = [
    "model_card_section",
    "model_index",
    "yaml_text",
]

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def yaml_text(value: Mapping[str, Any]) -> list[str]:
    r"""Return the lines of a document of mappings, lists, texts, numbers and nulls.

    Examples
    --------
    >>> print(*yaml_text({"name": "Q4: #1", "values": [1e-05, None]}), sep="\n")
    name: "Q4: #1"
    values:
      - 1.0e-05
      - null
    """
    return list(_lines(value, ""))


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _entry(f"{indent}{name}:", item, indent)
    else:
        for item in value:
            yield from _item(item, indent)


def _entry(start: str, item: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    if _is_nested(item):
        yield start
        yield from _lines(item, f"{indent}  ")
    else:
        yield f"{start} {_scalar(item)}"


def _item(item: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    """An item of a list: its first line starts with a dash."""
    if not _is_nested(item):
        yield f"{indent}- {_scalar(item)}"
        return
    first, *others = _lines(item, f"{indent}  ")
    yield f"{indent}- {first.lstrip()}"
    yield from others


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _scalar(value: object) -> str:
    if isinstance(value, float):
        mantissa, exponent, power = repr(value).partition("e")
        point = "" if "." in mantissa else ".0"  # without it YAML 1.1 reads 1e-05 as a text
        return f"{mantissa}{point}{exponent}{power}"
    if isinstance(value, str):
        return "".join(map(_character, json.dumps(value, ensure_ascii=False)))
    return json.dumps(value)


def _character(character: str) -> str:
    """A character, escaped where YAML would not take it or would fold it."""
    if unicodedata.category(character) in _UNSEEN:
        code = ord(character)
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character


def model_card_section(result: AuditResult, prepared: Preparation | None = None) -> str:
    """Return YAML metadata and the sections on evaluation and limitations."""
    metadata = {
        "tags": ["fedparity", "demographic-disparity"],
        "model-index": model_index(result),
    }
    blocks = [
        ["---", *yaml_text(metadata), "---"],
        *_evaluation(result, prepared),
        *_limitations(result),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def model_index(result: AuditResult) -> list[dict[str, Any]]:
    """Return the ``model-index`` of a card: every number as the result's JSON has it."""
    plan = result.plan
    return [
        {
            "name": plan.title,
            "results": [
                {
                    "task": {"type": "other", "name": "Demographic disparity across silos"},
                    "dataset": {
                        "type": "fedparity-audit",
                        "name": plan.title,
                        "config": f"{plan.sketch}-{plan.levels}-{plan.estimator}",
                        "revision": plan.digest,
                        "args": {"silos": len(result.silos_received), "n": result.n},
                    },
                    "metrics": _metrics(result),
                }
            ],
        }
    ]


def _metrics(result: AuditResult) -> list[dict[str, Any]]:
    return [metric for metric in (*_sizes(result), *_rates(result)) if metric["value"] is not None]


def _sizes(result: AuditResult) -> Iterator[dict[str, Any]]:
    """The headline's number, then the disparity and its parts."""
    found, order, parts = result.disparity, result.plan.order, result.attribution
    worst, sizes = result.magnitudes.worst_pair, result.magnitudes
    yield _metric(
        "worst-pair-distance",
        "Score points between the two groups furthest apart",
        worst.corrected,
        groups=worst.groups,
        higher=worst.higher,
        interval=worst.interval,
        combined=worst.combined,
        certificate=worst.certificate,
        outer=worst.outer,
        share_of_range=worst.share_of_range,
        confidence=result.confidence,
        review_level=found.review_level,
        review_unit=found.review_unit,
        verdict=found.verdict,
    )
    yield _metric(
        "points-to-parity",
        "Score points that scores must move to be alike",
        sizes.points.corrected,
        interval=sizes.points.interval,
        certificate=sizes.points.certificate,
    )
    yield _metric(
        "disparity",
        f"Disparity G{order}",
        found.value,
        corrected=found.corrected,
        interval=found.interval,
        combined=found.combined,
        certificate=found.certificate,
        p_value=found.p_value,
    )
    yield _metric(
        "heterogeneity",
        f"Heterogeneity H{order}",
        result.heterogeneity.value,
        interval=result.heterogeneity.interval,
    )
    for kind, name, field in (
        ("disparity-selection", "Selection between silos", "selection"),
        ("disparity-within", "Within silos", "within"),
    ):
        if (part := getattr(parts, field)) is not None:
            yield _metric(kind, name, part, interval=getattr(parts.intervals, field))


def _rates(result: AuditResult) -> Iterator[dict[str, Any]]:
    """The rate of every group at every threshold, and above every quantile requested."""
    for rates in all_rates(result):
        at: dict[str, Any] = (
            {"threshold": rates.score, "favorable": rates.favorable}
            if isinstance(rates, ThresholdResult)
            else {"level": rates.level}
        )
        for each in rates.groups:
            yield _metric(
                "selection-rate",
                f"{rates_heading(rates)}, {group_words(each.group)}",
                each.rate.value,
                group=each.group,
                **at,
                interval=each.rate.interval,
                ratio_to_best=each.ratio.value,
                ratio_interval=each.ratio.interval,
                four_fifths=each.answer,
            )


def _metric(kind: str, name: str, value: float | None, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": kind, "name": name, "value": value, "args": as_json(arguments)}


def _evaluation(result: AuditResult, prepared: Preparation | None) -> list[list[str]]:
    document = result.to_dict()
    return [
        ["## Evaluation"],
        ["### Testing Data, Factors & Metrics"],
        ["#### Testing Data"],
        [
            f"{plain(result.plan.title)}: {plain('; '.join(circumstances(result, prepared)))}.",
            plain(explain_privacy(result)),
        ],
        ["#### Factors"],
        [f"The {plain(groups_words(result))}, in {silos_words(result)}."],
        table_lines(tables.groups(result), document),
        ["#### Metrics"],
        [plain(explain_laws(result))],
        ["### Results"],
        [f"**{mark_of(result).shape} {plain(in_points(result))}**"],
        first_lines(result),
        *rate_blocks(result, document),
        table_lines(tables.magnitudes(result), document),
        [READING_MAGNITUDES],
        table_lines(tables.measures(result), document, texts=1),
    ]


def _limitations(result: AuditResult) -> list[list[str]]:
    sentences = (
        how_large(result),
        how_certain(result),
        seen_alone(result),
        why(result),
        *weakening(result),
        *does_not_prove(),
    )
    return [
        ["## Bias, Risks, and Limitations"],  # the Hub's own heading
        [f"- {plain(sentence)}" for sentence in sentences],
    ]
