"""The page that sketches: one HTML file of a plan, which reads a silo's table and cannot send anything.

The file is a static page without a script of its own around a sandboxed frame. The frame is what people see; it
starts a worker, and the worker alone reads rows. Equal plans give equal bytes.
"""

from __future__ import annotations

import json
from html import escape
from importlib.resources import as_file, files
from pathlib import Path
from string import Template
from typing import Any

from fedparity.documents.files import file_name
from fedparity.documents.plan import Plan
from fedparity.errors import RuleError
from fedparity.modes.mode import mode_of, plan_sections
from fedparity.page.module_inlining import inlined
from fedparity.page.page_plan import page_plan
from fedparity.privacy.policy import Policy, effective_rounding, threshold_count
from fedparity.report.html.markup import embedded, hash_source
from fedparity.silo.permit import plan_view
from fedparity.version import SOFTWARE

__all__ = ["build_page", "policy_of"]

_RULES = (
    "minimum_cell",
    "records_per_level",
    "rounding",
    "levels",
    "thresholds",
    "overrides",
    "other_grids",
    "without_ledger",
    "page",
    "must_exist",
    "needed",
)
"""What the page asks a policy for."""


def build_page(plan: Plan) -> bytes:
    """Return the page of a plan, as a file holds it.

    Raises
    ------
    RuleError
        If the page cannot answer the plan.

    Examples
    --------
    >>> page = build_page(Plan(title="Q4", groups=("A", "B"), score_range=(0, 1)))
    >>> page.startswith(b"<!doctype html>")
    True
    """
    told = page_plan(plan)
    if told["declined"]:
        raise _declined(plan, told["declined"])
    with as_file(files("fedparity.page")) as root:
        worker = _script(inlined(root / "shell" / "worker_calls.js", root))
        script = _script(inlined(root / "shell" / "silo_page.js", root))
        style = (root / "shell" / "page.css").read_text("utf-8")
        frame = Template((root / "shell" / "frame.html").read_text("utf-8"))
        around = Template((root / "shell" / "around.html").read_text("utf-8"))
        licenses = _licenses(root / "vendor")
    policy = _content_policy(script=script, style=style)
    shared = {"policy": policy, "style": style, "title": escape(plan.title), "software": SOFTWARE}
    inner = frame.substitute(
        shared,
        script=script,
        worker=worker,
        plan=embedded(json.dumps(_told(plan, told), ensure_ascii=False)),
        sections=_sections(plan),
        digest=plan.digest,
        signature=_signature_words(plan),
        licenses=licenses,
    )
    # Between single quotes only these two mean something else.
    quoted = inner.replace("&", "&amp;").replace("'", "&#39;")
    return around.substitute(shared, frame=quoted).encode()


def _content_policy(*, script: str, style: str) -> str:
    """Return the Content-Security-Policy of the page and of all that it starts.

    Only the script and style in it are used; a worker is made from the text in it (``blob:``); nothing is
    fetched, framed, sent or based elsewhere, and no text becomes markup or script (Trusted Types).
    """
    rules = (
        "default-src 'none'",
        f"script-src {hash_source(script)}",
        f"style-src {hash_source(style)}",
        "worker-src blob:",
        *(f"{name}-src 'none'" for name in ("connect", "frame", "img", "media", "font", "object")),
        "manifest-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types fedparity-worker",
    )
    return "; ".join(rules)


def policy_of(page: bytes) -> str:
    """Return the policy of a page, for a server that sends it with the page.

    A header can also forbid other pages to frame this one, so that its frame has nobody to talk to.
    """
    stated = page.split(b'Content-Security-Policy" content="', 1)[1].split(b'"', 1)[0].decode()
    return f"{stated}; frame-ancestors 'none'"


def _script(text: str) -> str:
    """A script as it may stand between tags."""
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("a script of the page would end before its end")
    return f"\n{text}"


def _declined(plan: Plan, reason: str) -> RuleError:
    command = "fedparity sketch PLAN DATA --silo NAME"
    if mode_of(plan).in_rounds:
        command = "fedparity secure keys PLAN --silo NAME, the first step of a secure sum"
    return RuleError(
        f"the page cannot answer this plan: {reason}.", fix=f"use the command: {command}."
    )


def _told(plan: Plan, told: dict[str, Any]) -> dict[str, Any]:
    """All that the page is told, so that it derives nothing that Python derives."""
    document, default = plan.to_dict(), Policy()
    return {
        "engine": told,
        "document": document,
        "view": json.dumps(plan_view(plan)),
        "files": {silo: f"{file_name(silo)}.sketch.json" for silo in plan.silos or ()},
        "asks": {
            "minimum_cell": plan.disclosure.minimum_cell,
            "records_per_level": plan.disclosure.records_per_level,
            "thresholds": threshold_count(document),
            "rounding": effective_rounding(document),
            "levels": plan.levels,
        },
        "defaults": {
            **{name: getattr(default, name) for name in _RULES},
            "rounding": dict(default.rounding),
        },
    }


def _sections(plan: Plan) -> str:
    parts = [
        f"<h3>{escape(heading)}</h3><ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"
        for heading, sentences in plan_sections(plan).items()
    ]
    return "\n".join(parts)


def _licenses(vendor: Path) -> str:
    """The licenses of the code of others, which each copy of it must hold."""
    texts = {
        each.parent.name: escape(each.read_text("utf-8").strip())
        for each in sorted(vendor.glob("*/LICENSE"))
    }
    parts = [
        f'<h3>{name}</h3><pre tabindex="0" role="region" aria-label="License of {name}">{text}</pre>'
        for name, text in texts.items()
    ]
    return "\n".join(parts)


def _signature_words(plan: Plan) -> str:
    if plan.signature is None:
        return "The plan is not signed by the auditor."
    return f"The plan names the auditor's key <code>{plan.signature['key']}</code>; your policy says whether you obey it."
