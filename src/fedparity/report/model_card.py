"""The result as a section of a model card, in the form of the Hugging Face Hub.

The metadata are those of the Hub's ``model-index`` (one result with several metrics); the headings
are those of its template. Both are meant to be merged into a card that describes the model.
"""

from __future__ import annotations

from typing import Any

from fedparity.auditing.result import AuditResult
from fedparity.report.escaping import plain
from fedparity.report.markdown import group_table, measure_table
from fedparity.report.sentences.accuracy import explain_laws
from fedparity.report.sentences.alone import seen_alone
from fedparity.report.sentences.answers import headline, how_certain, how_large, size
from fedparity.report.sentences.missing import what_is_missing
from fedparity.report.sentences.naming import groups_words, silos_words
from fedparity.report.sentences.releases import explain_privacy
from fedparity.report.sentences.scope import does_not_prove
from fedparity.report.sentences.sources import why
from fedparity.report.verdicts import verdict_line
from fedparity.report.yaml_text import yaml_text

__all__ = ["model_card_section", "model_index"]


def model_card_section(result: AuditResult) -> str:
    """Return YAML metadata and the sections on evaluation and limitations."""
    metadata = {
        "tags": ["fedparity", "demographic-disparity"],
        "model-index": model_index(result),
    }
    blocks = [["---", *yaml_text(metadata), "---"], *_evaluation(result), *_limitations(result)]
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
    found, order, parts = result.disparity, result.plan.order, result.attribution
    metrics = [
        _metric(
            "disparity",
            f"Disparity G{order}",
            found.value,
            interval=found.interval,
            combined=found.combined,
            certificate=found.certificate,
            confidence=result.confidence,
            p_value=found.p_value,
            review_level=found.review_level,
            review_unit=found.review_unit,
            verdict_answered=found.verdict.answered,
            verdict_all=found.verdict.all,
        ),
        _metric(
            "heterogeneity",
            f"Heterogeneity H{order}",
            result.heterogeneity.value,
            interval=result.heterogeneity.interval,
        ),
        _metric(
            "disparity-selection",
            "Selection between silos",
            parts.selection,
            interval=parts.intervals.selection,
        ),
        _metric("disparity-within", "Within silos", parts.within, interval=parts.intervals.within),
    ]
    return [metric for metric in metrics if metric["value"] is not None]


def _metric(kind: str, name: str, value: float | None, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": kind, "name": name, "value": value, "args": arguments}


def _evaluation(result: AuditResult) -> list[list[str]]:
    return [
        ["## Evaluation"],
        ["### Testing Data, Factors & Metrics"],
        ["#### Testing Data"],
        [f"{plain(result.plan.title)}: {plain(size(result))}. {plain(explain_privacy(result))}"],
        ["#### Factors"],
        [f"The {plain(groups_words(result))}, in {silos_words(result)}."],
        group_table(result),
        ["#### Metrics"],
        [plain(explain_laws(result))],
        ["### Results"],
        [f"**{plain(verdict_line(result))}.** {plain(headline(result))}"],
        measure_table(result),
    ]


def _limitations(result: AuditResult) -> list[list[str]]:
    sentences = (
        how_large(result),
        how_certain(result),
        seen_alone(result),
        why(result),
        *what_is_missing(result),
        *does_not_prove(),
    )
    return [
        ["## Bias, Risks, and Limitations"],  # the Hub's own heading
        [f"- {plain(sentence)}" for sentence in sentences],
    ]
