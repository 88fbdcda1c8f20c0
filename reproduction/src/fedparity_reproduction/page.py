"""``index.html``: settings, verdicts, tables and figures on one page that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from fedparity_reproduction.estimators import ESTIMATORS
from fedparity_reproduction.experiments import Part
from fedparity_reproduction.findings import findings
from fedparity_reproduction.runner import Settings, versions
from fedparity_reproduction.tables import COLUMNS, Table
from fedparity_reproduction.terms import TERMS
from fedparity_reproduction.texts import (
    ESTIMATOR_HEADINGS,
    REGIME_HEADINGS,
    k95_range,
    lines_of,
    mean_and_sd,
    symbol_of,
    terms_cells,
)

__all__ = ["reproduction_page"]


def reproduction_page(
    parts: Sequence[Part], settings: Settings, drawings: Mapping[str, bytes]
) -> str:
    """Return the page; ``drawings`` are the SVG files of all figures, by name.

    It holds its style and figures, has no script, and its security policy lets it fetch nothing.
    """
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        policy=(
            f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
            "form-action 'none'"
        ),
        style=style,
        quick=settings.is_quick,
        parts=[_shown(part, drawings) for part in parts],
        findings=findings(parts, with_k95=not settings.is_quick),
        verdicts=sum((part.verdicts for part in parts), Counter()),
        headings=list(ESTIMATOR_HEADINGS.values()),
        k95=[] if settings.is_quick else _k95(parts),
        settings=settings.to_dict(),
        versions=versions(),
    )


def _k95(parts: Sequence[Part]) -> list[tuple[str, list[str]]]:
    return [
        (part.title, [k95_range(part.study, name) for name in ESTIMATORS])
        for part in parts
        if part.study
    ]


def _shown(part: Part, drawings: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a part as the template reads it: texts only."""
    terms = part.terms
    return {
        "name": part.name,
        "title": part.title,
        "datasets": part.datasets,
        "numbers": [
            (n.symbol, n.printed.place, n.printed.value, mean_and_sd(n.mean, n.sd, 4), n.verdict)
            for n in part.numbers
        ],
        "tables": [_shown_table(table) for table in part.tables],
        "terms": terms
        and {
            "terms": TERMS,
            "rows": [(scenario, terms_cells(terms, scenario)) for scenario in terms.draws],
            "sentence": terms.sentence,
        },
        "plots": [(plot, _address(drawings[plot.name])) for plot in part.plots],
    }


def _shown_table(table: Table) -> dict[str, Any]:
    """Return the texts of a table, and which printed cells are far from our draws."""
    blocks = [
        {
            "heading": REGIME_HEADINGS[block.regime],
            "label": block.label,
            "rows": [
                {
                    "symbol": symbol_of(row, table),
                    "verdict": row.verdict,
                    "lines": [
                        (
                            "mean ± sd" if kind == "draws" else kind,
                            [
                                (text, kind == "paper" and cell.agreement == "apart")
                                for text, cell in zip(texts, row.cells, strict=True)
                            ],
                        )
                        for kind, texts in lines_of(row, table)
                    ],
                }
                for row in block.rows
            ],
        }
        for block in table.blocks
    ]
    names = ("name", "title", "groups", "draws", "seed")
    return {**{n: getattr(table, n) for n in names}, "columns": COLUMNS, "blocks": blocks}


def _address(svg: bytes) -> str:
    """Return a drawing as a ``data:`` address; percent signs take less room than base64."""
    drawing = svg.decode()
    text = " ".join(drawing[drawing.index("<svg") :].replace('"', "'").split())
    return "data:image/svg+xml," + quote(text, safe=" !$&'()*+,-./:;=?@_~")
