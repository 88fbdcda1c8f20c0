"""Matplotlib's SVG made small and fit for a page with a strict content policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from fedparity.plots.style import INK
from fedparity.plots.svg_paths import circle_radius, short_number, short_path

__all__ = ["rewritten"]

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NO_TURN = re.compile(r"rotate\(-?0 ")
_MOVED = re.compile(r"translate\(([-.0-9]+) ([-.0-9]+)\)")
_ROOT = {
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "font-size": "9",
    "fill": "currentColor",
}
"""What is inherited by all, and so not repeated."""
_DROPPED = {"font-family", "font", "stroke-dashoffset", "stroke-miterlimit"}
_NUMBERS = {"x", "y", "width", "height", "stroke-width", "font-size"}


def rewritten(svg: bytes, *, alt: str, name: str) -> str:
    """Return the drawing as an ``svg`` element: its ids begin with ``name``, its title is ``alt``."""
    root = ET.fromstring(svg)  # noqa: S314 -- matplotlib wrote it
    del root.attrib["width"], root.attrib["height"]  # the page says how large it is
    _inline_circles(root)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        element.text = (element.text or "").strip("\n") if element.tag == "text" else None
        element.tail = None
        _restyle(element)
    _prune(root)
    _rename(root, name)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "fp-drawing",
        "role": "img",
        "aria-label": alt,
        "viewBox": root.attrib["viewBox"],
        **_ROOT,
    }
    title = ET.Element("title")
    title.text = alt
    root.insert(0, title)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")  # in text it is " /&gt;"


def _restyle(element: ET.Element) -> None:
    """Styles as attributes, which a content policy allows; numbers and paths with few digits."""
    held = element.attrib
    for declaration in held.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key and key not in _DROPPED:
            held[key] = value.removesuffix("px")
    if _LINK in held:
        held["href"] = held.pop(_LINK)
    _shorten(element)
    for key in ("fill", "stroke"):
        if held.get(key) == INK:
            held[key] = "currentColor"
    if element.tag in ("path", "text", "circle", "use"):
        for key in [key for key, value in _ROOT.items() if held.get(key) == value]:
            del held[key]
    if held.get("stroke") is None:
        held.pop("stroke-linejoin", None)


def _shorten(element: ET.Element) -> None:
    held = element.attrib
    turned = held.get("transform", "")
    moved = _MOVED.fullmatch(turned) if element.tag == "text" else None
    if moved:
        held["x"], held["y"] = moved.groups()
    if moved or _NO_TURN.match(turned):
        del held["transform"]
    for key in _NUMBERS & held.keys():
        held[key] = short_number(float(held[key]))
    if "d" in held:
        held["d"] = short_path(held["d"])


def _inline_circles(root: ET.Element) -> None:
    """Circles as circles: matplotlib defines each as eight curves, and uses it once."""
    radii = {}
    for path in root.iter(f"{_SVG}path"):
        radius = circle_radius(path.get("d", "")) if "id" in path.attrib else None
        if radius is not None:
            radii[path.attrib["id"]] = radius
    for use in root.iter(f"{_SVG}use"):
        radius = radii.get(use.get(_LINK, "")[1:])
        if radius is not None:
            use.tag = f"{_SVG}circle"
            del use.attrib[_LINK]
            use.attrib["cx"] = short_number(float(use.attrib.pop("x")))
            use.attrib["cy"] = short_number(float(use.attrib.pop("y")))
            use.attrib["r"] = short_number(radius)


def _prune(root: ET.Element) -> None:
    """Drop what shows nothing, and groups that say nothing."""
    _prune_below(root, set(_references(root)))


def _prune_below(parent: ET.Element, used: set[str]) -> None:
    kept: list[ET.Element] = []
    for child in parent:
        _prune_below(child, used)
        own = child.attrib.pop("id", "")
        if own in used:
            child.attrib["id"] = own
        elif own.startswith("at:"):
            child.attrib["data-path"] = own.removeprefix("at:")
        if parent.tag != "defs" or own in used:
            kept += _left_of(child)
    parent[:] = kept


def _left_of(child: ET.Element) -> list[ET.Element]:
    """What remains of an element: itself, its children, or nothing."""
    if child.tag in ("metadata", "style") or (child.tag in ("g", "defs") and len(child) == 0):
        return []
    if child.tag == "path" and "id" not in child.attrib and not _is_seen(child):
        return []
    if child.tag == "g" and (not child.attrib or len(child) == 1):
        return _unwrapped(child)
    return [child]


def _unwrapped(group: ET.Element) -> list[ET.Element]:
    """The children of a group; an only child takes what the group says.

    A ``use`` moves what clips it by its own x and y, so it cannot take the group's.
    """
    if not group.attrib:
        return list(group)
    child = group[0]
    moves = child.tag == "use" and "clip-path" in group.attrib
    if moves or child.tag == "defs" or child.attrib.keys() & group.attrib.keys():
        return [group]
    child.attrib.update(group.attrib)
    return [child]


def _is_seen(path: ET.Element) -> bool:
    return path.get("fill") != "none" or path.get("stroke", "none") != "none"


def _references(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "href":
                yield value[1:]
            yield from _REFERENCE.findall(value)


def _rename(root: ET.Element, name: str) -> None:
    """Short ids in the order in which they come; those that nothing uses are gone."""
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    short = {own: f"{name}-{i}" for i, own in enumerate(dict.fromkeys(ids))}
    for element in root.iter():
        held = element.attrib
        if "id" in held:
            held["id"] = short[held["id"]]
        if held.get("href", "")[1:] in short:
            held["href"] = f"#{short[held['href'][1:]]}"
        for key, value in held.items():
            if value.startswith("url("):
                held[key] = _REFERENCE.sub(lambda found: f"url(#{short[found[1]]})", value)
