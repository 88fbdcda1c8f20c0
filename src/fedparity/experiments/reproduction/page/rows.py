"""Tables as the page's template reads them."""

from __future__ import annotations

from typing import Any

from fedparity.experiments.reproduction.table_text import REGIME_HEADINGS, lines_of, symbol_of
from fedparity.experiments.reproduction.tables import COLUMNS, Row, Table
from fedparity.experiments.reproduction.terms import TERMS, TermsTable
from fedparity.experiments.reproduction.terms_text import cells_of

__all__ = ["shown_table", "shown_terms"]

_KINDS = {"paper": "paper", "ours": "ours", "draws": "mean ± sd"}


def shown_table(table: Table) -> dict[str, Any]:
    """Return the texts of a table, and which cells lie apart."""
    return {
        "name": table.name,
        "title": table.title,
        "groups": table.groups,
        "draws": table.draws,
        "seed": table.seed,
        "columns": COLUMNS,
        "blocks": [
            {
                "heading": REGIME_HEADINGS[block.regime],
                "label": block.label,
                "rows": [
                    {
                        "symbol": symbol_of(row, table),
                        "lines": [
                            (_KINDS[kind], list(zip(texts, _apart(row, kind), strict=True)))
                            for kind, texts in lines_of(row, table)
                        ],
                        "verdict": row.verdict,
                    }
                    for row in block.rows
                ],
            }
            for block in table.blocks
        ],
    }


def _apart(row: Row, kind: str) -> list[bool]:
    """Whether each cell is printed far from our draws: marked once, beside the paper's value."""
    return [kind == "paper" and cell.agreement == "apart" for cell in row.cells]


def shown_terms(table: TermsTable) -> dict[str, Any]:
    """Return the texts of a table of terms."""
    return {
        "terms": TERMS,
        "rows": [(scenario, cells_of(table, scenario)) for scenario in table.draws],
        "sentence": table.sentence,
    }
