"""A page as a browser reads it: its elements, and the numbers it shows with their places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import tinyhtml5
from tests.report_audits import named_audit

from fedparity.report.html.page import html_report


@cache
def report(name: str) -> str:
    """The page of a named audit, made once for all tests."""
    return html_report(named_audit(name))


@dataclass(frozen=True)
class Shown:
    """A number in the page: where it says it comes from, how it is written, its text."""

    path: str
    form: str
    text: str


class Page:
    """A parsed page."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root = tinyhtml5.parse(source, namespace_html_elements=False)
        self.parents = {child: parent for parent in self.root.iter() for child in parent}

    def all(self, name: str) -> list[Any]:
        """Every element of this name, those of drawings included."""
        return [each for each in self.root.iter() if tag(each) == name]

    def by_id(self, name: str) -> Any:
        """The one element of this id."""
        (found,) = [each for each in self.root.iter() if each.get("id") == name]
        return found

    @property
    def result(self) -> Any:
        """The result that the page holds."""
        return json.loads(self.by_id("result").text)

    def ancestors(self, element: Any) -> Iterator[Any]:
        """The element and everything around it, from the inside."""
        while element is not None:
            yield element
            element = self.parents.get(element)

    def shown(self) -> Iterator[Shown]:
        """Every number outside drawings with the path that names it."""
        for element in self.root.iter("span"):
            if element.get("data-path"):
                form = element.get("data-as", "number")
                yield Shown(element.get("data-path"), form, words(element))
        for table in self.root.iter("table"):
            yield from _cells(table)


def _cells(table: Any) -> Iterator[Shown]:
    """The numbers of a table that are named by their row and their column."""
    heads = list(table.iter("th"))
    heads = [th for th in heads if th.get("scope") == "col"]
    for row in table.iter("tr"):
        cells = [each for each in row if each.tag in ("th", "td")]
        for head, cell in zip(heads, cells, strict=False):
            path = path_of(head, row)
            if path is not None and cell.tag == "td":
                yield Shown(path, head.get("data-as", "number"), words(cell))


def path_of(head: Any, row: Any) -> str | None:
    """The path of a cell."""
    column = head.get("data-path")
    if column is None:
        return None
    if row.get("data-i") is not None:
        return column.replace("*", row.get("data-i"), 1)
    return None if row.get("data-row") is None else row.get("data-row") + column


def tag(element: Any) -> str:
    """The name of an element, of HTML or of a drawing."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def words(element: Any) -> str:
    """All text inside."""
    return "".join(element.itertext()).strip()
