"""The JSON Schema of a result, generated from its dataclasses.

``python -m tests.contracts.result_schema`` writes ``documents/schemas/audit-1.json`` anew; a test finds
the two equal. Fields, types and choices follow from the types, sentences from the docstrings. What
no type says, such as that a share is at most 1, stands in :data:`LIMITS`.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import fedparity
from fedparity.documents import result_parts as parts
from fedparity.documents.result import AuditResult
from fedparity.documents.tabular import Parts
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group

FILE = Path(fedparity.__file__).parent / "documents" / "schemas" / "audit-1.json"
SHARED = {
    parts.Bounded: "bounded",
    parts.Estimate: "estimate",
    parts.InDeviations: "in_deviations",
    parts.Sampled: "sampled",
    Bracket: "bracket",
    parts.Ratio: "ratio",
    parts.GroupRate: "group_rate",
}
"""Objects that stand in several places."""
AT_LEAST_0 = {"minimum": 0}
POSITIVE = {"exclusiveMinimum": 0}
INSIDE = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
SHARE = {"minimum": 0, "maximum": 1}
QUANTILES = {"type": "array", "items": {"type": "number"}, "minItems": 5, "maxItems": 5}
NOT_NEGATIVE = (
    *("SetAside.most", "Bounded.value", "Estimate.corrected", "Compared.value"),
    *("DisparityResult.review_level", "WorstPair.share_of_range", "Ratio.value", "Ratio.upper"),
    *("HeterogeneityResult.value", "HeterogeneityResult.corrected", "PairResult.wasserstein"),
    *("PairResult.corrected", "PairResult.cramer", "DecompositionResult.v_mix"),
    *("DecompositionResult.v_bar", "DecompositionResult.lower", "DecompositionResult.upper"),
    *("SiloResult.disparity", "SiloResult.heterogeneity", "SiloResult.wasserstein"),
)
LIMITS = {
    **dict.fromkeys(NOT_NEGATIVE, AT_LEAST_0),
    "Ratio.lower": AT_LEAST_0,
    "PlanSummary.digest": {"pattern": "^sha256:[0-9a-f]{64}$"},
    "PlanSummary.levels": {"minimum": 1},
    "PlanSummary.score_step": POSITIVE,
    "PlanSummary.thresholds": {"uniqueItems": True},
    "PlanSummary.trim": {"minimum": 0, "exclusiveMaximum": 0.5},
    "AuditResult.silos_received": {"minItems": 1, "uniqueItems": True},
    "AuditResult.silos_missing": {"uniqueItems": True},
    "AuditResult.n": POSITIVE,
    "AuditResult.groups": {"minItems": 2},
    "AuditResult.pairs": {"minItems": 1},
    "AuditResult.silos": {"minItems": 1},
    "AuditResult.guarantee": {"required": ["mode"]},
    "AuditResult.confidence": INSIDE,
    "AuditResult.redraws": {"minimum": 20},
    "GroupResult.n": POSITIVE,
    "GroupResult.share": SHARE,
    "DisparityResult.p_value": {"exclusiveMinimum": 0, "maximum": 1},
    "MagnitudesResult.burden": {"minItems": 2},
    "_RateReport.confidence": INSIDE,
    "_RateReport.groups": {"minItems": 2},
    "TailReport.level": INSIDE,
    "AttributionResult.silos": {"minItems": 1},
    "SiloResult.n": {"additionalProperties": {"type": ["number", "null"], "minimum": 0}},
    "SiloResult.quantiles": {"additionalProperties": {"anyOf": [QUANTILES, {"type": "null"}]}},
    "AuditWarning.text": {"minLength": 1},
    "Curves.levels": {"items": {"type": "number", **SHARE}, "minItems": 2, "uniqueItems": True},
    "Curves.groups": {"minItems": 2},
    "Curves.center": {"minItems": 2},
    "GroupCurve.quantiles": {"minItems": 2},
    "ResultSignature.key": {"pattern": "^[A-Za-z0-9+/]{43}=$"},
    "ResultSignature.value": {"pattern": "^[A-Za-z0-9+/]{86}==$"},
}
"""What no type says, by class and field."""


@cache
def docstrings(kind):
    """The sentences below the fields of a class."""
    (tree,) = ast.parse(dedent(inspect.getsource(kind))).body
    found = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
            found[before.target.id] = worded(after.value.value)
    return found


def worded(text):
    """A docstring as a schema has it: its first paragraph, on one line, in the words of JSON."""
    line = " ".join(text.split("\n\n")[0].split())
    return (
        line.replace("``None``", "null").replace("``", "").replace(":data:", "").replace("`", "")
    )


def of_class(kind):
    """The schema of an object."""
    hints = get_type_hints(kind, localns={"Federation": object}, include_extras=True)
    properties = {}
    for name in parts.written_fields(kind):
        owner = next(
            each for each in kind.__mro__ if name in vars(each).get("__annotations__", {})
        )
        said = docstrings(owner).get(name)
        limits = LIMITS.get(f"{kind.__name__}.{name}", LIMITS.get(f"{owner.__name__}.{name}", {}))
        properties[name] = {**of_type(hints[name]), **limits}
        properties[name] |= {} if said is None else {"description": said}
    return {
        "type": "object",
        "description": worded(kind.__doc__),
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def of_type(hint):  # noqa: PLR0911 -- one for each kind of type
    """The schema of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint == Group:
        return {"$ref": "#/$defs/label"}
    if hint is Bounds:
        return {"$ref": "#/$defs/interval"}
    if hint in (parts.Verdict, parts.FourFifths):
        name = "verdict" if hint == parts.Verdict else "four_fifths"
        return {"$ref": f"#/$defs/{name}"}
    if origin is Annotated:
        return TAGGED[hint.__metadata__[0]]
    if origin is Literal:
        return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
    if origin in (Parts, tuple):
        any_size = origin is Parts or inner[-1] is Ellipsis
        size = {} if any_size else {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", "items": of_type(inner[0]), **size}
    if NoneType in inner:
        return or_null(of_type(next(part for part in inner if part is not NoneType)))
    if origin is not None:
        return {"type": "object", "additionalProperties": of_type(inner[1])}
    if hint in SHARED:
        return {"$ref": f"#/$defs/{SHARED[hint]}"}
    return of_class(hint) if is_dataclass(hint) else dict(PLAIN[hint])


def or_null(schema):
    if set(schema) <= {"type", "minimum"} and isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


PLAIN = {
    str: {"type": "string"},
    float: {"type": "number"},
    int: {"type": "integer", "minimum": 0},
    bool: {"type": "boolean"},
}
TAGGED = {
    "amount": {"type": "number"},
    "limit": {"type": ["number", "null"]},
    "reach": {"$ref": "#/$defs/reach"},
    "terms": {
        "type": "object",
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    },
}


def pair_of(kind, description):
    return {
        "type": "array",
        "items": {"type": kind},
        "minItems": 2,
        "maxItems": 2,
        "description": description,
    }


def generated():
    """The schema of a result."""
    top = of_class(AuditResult)
    signature = of_class(parts.ResultSignature)
    top["required"].append("signature")
    top["properties"]["signature"] = {
        "anyOf": [signature, {"type": "null"}],
        "description": docstrings(AuditResult)["signature"],
    }
    part = {"$ref": "#/$defs/part"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "fedparity/audit/1",
        "title": "The result of an audit (fedparity/audit/1)",
        **top,
        "description": "Every field is always present; null where there is nothing to say.",
        "$defs": {
            "interval": pair_of("number", "The lower and the upper end."),
            "label": {
                "description": "The label of a group; a list of labels for an intersection.",
                "anyOf": [part, {"type": "array", "items": part, "minItems": 2, "maxItems": 10}],
            },
            "part": {
                "anyOf": [
                    {"type": "string", "minLength": 1},
                    {"type": "integer"},
                    {"type": "boolean"},
                ]
            },
            "reach": pair_of(
                ["number", "null"], "The lower and the upper end; null where there is no limit."
            ),
            "verdict": {"enum": list(get_args(parts.Verdict))},
            "four_fifths": {"enum": list(get_args(parts.FourFifths))},
            **{name: of_class(kind) for kind, name in SHARED.items()},
        },
    }


def text():
    """What the file holds."""
    return json.dumps(generated(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
    sys.stderr.write(f"{FILE.name} is written\n")
