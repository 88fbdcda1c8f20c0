"""``index.html``: settings, verdicts, tables and figures on one page that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from fedparity.errors import MissingExtraError
from fedparity.experiments.montecarlo import ESTIMATORS
from fedparity.experiments.reproduction.findings import findings
from fedparity.experiments.reproduction.k95 import HEADINGS, k95_range
from fedparity.experiments.reproduction.number_texts import mean_and_sd
from fedparity.experiments.reproduction.page.rows import shown_table, shown_terms
from fedparity.experiments.reproduction.parts import Part
from fedparity.experiments.reproduction.settings import Settings
from fedparity.experiments.reproduction.versions import versions

__all__ = ["page_template", "reproduction_page"]


def reproduction_page(
    parts: Sequence[Part], settings: Settings, drawings: Mapping[str, bytes]
) -> str:
    """Return the page; ``drawings`` are the SVG files of all figures, by name.

    It holds its style and figures, has no script, and its security policy lets it fetch nothing.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.
    """
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    page: str = page_template().render(
        policy=_policy(style),
        style=style,
        parts=[_shown(part, drawings) for part in parts],
        findings=findings(parts),
        verdicts=sum((part.verdicts for part in parts), Counter()),
        k95=_k95(parts),
        settings=settings.to_dict(),
        versions=versions(),
    )
    return page


def page_template() -> Any:  # noqa: ANN401 -- a template
    """Return the template; escaping is on, and a name that it lacks is an error."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError.for_use("jinja2", "writing the page", extra="reproduce") from None
    environment = Environment(
        loader=PackageLoader("fedparity.experiments.reproduction", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _shown(part: Part, drawings: Mapping[str, bytes]) -> dict[str, Any]:
    """A part as the template reads it: texts only."""
    return {
        "name": part.name,
        "title": part.title,
        "datasets": part.datasets,
        "numbers": [
            (n.symbol, n.printed.place, n.printed.value, mean_and_sd(n.mean, n.sd, 4), n.verdict)
            for n in part.numbers
        ],
        "tables": [shown_table(table) for table in part.tables],
        "terms": shown_terms(part.terms) if part.terms else None,
        "plots": [(plot, _address(drawings[plot.name])) for plot in part.plots],
    }


def _address(svg: bytes) -> str:
    """A drawing as a ``data:`` address; percent signs take less room than base64."""
    drawing = svg.decode()
    text = " ".join(drawing[drawing.index("<svg") :].replace('"', "'").split())
    return "data:image/svg+xml," + quote(text, safe=" !$&'()*+,-./:;=?@_~")


def _k95(parts: Sequence[Part]) -> list[tuple[str, list[str]]]:
    rows = [
        (part.title, [k95_range(part.study, name) for name in ESTIMATORS])
        for part in parts
        if part.study
    ]
    return [("data", [HEADINGS[name] for name in ESTIMATORS]), *rows] if rows else []
