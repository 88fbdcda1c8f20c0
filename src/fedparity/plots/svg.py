"""A display as inline SVG: small, the same bytes for the same input, and with a description."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree as ET

from fedparity.plots.style import INK, PAPER, Shown, Units, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "AxisBox",
    "Drawing",
    "circle_radius",
    "drawing",
    "picture",
    "png",
    "rewritten",
    "short_number",
    "short_path",
]

_DIGITS = 2
_MANY = 30
"""A path of this many points is a curve: one decimal, a twentieth of a point, is enough for it."""
_TOKEN = re.compile(r"[MLCQz]|-?[0-9.]+(?:e-?[0-9]+)?")
_PAIRS = {"M": 1, "L": 1, "Q": 2, "C": 3, "z": 0}
_CIRCLE_ARCS = 8
Point = tuple[float, float]


def short_number(value: float, digits: int = _DIGITS) -> str:
    """Return a number with two decimals at most, or as many as ``digits`` says.

    Examples
    --------
    >>> short_number(12.3046), short_number(-0.5), short_number(7.0), short_number(-0.001)
    ('12.3', '-.5', '7', '0')
    """
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    if text in ("-0", "0", ""):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def short_path(path: str) -> str:
    """Return a path with steps instead of places: the same to two decimals (a long curve to one), in half the bytes.

    Examples
    --------
    >>> short_path("M 10.004 20 L 11.5 20 L 11.5 21 z")
    'M10 20h1.5v1z'
    """
    commands = _commands(path)
    pen = _Pen(digits=1 if len(commands) > _MANY else _DIGITS)
    return "".join(pen.draw(command, points) for command, points in commands)


def circle_radius(path: str) -> float | None:
    """Return the radius of a circle around 0 as matplotlib draws it, None if it is another shape."""
    commands = _commands(path)
    shapes = [command for command, _ in commands]
    if shapes != ["M", *["C"] * _CIRCLE_ARCS, "z"]:
        return None
    x, y = commands[0][1][0]
    return abs(y) if x == 0 else None


def _commands(path: str) -> list[tuple[str, list[Point]]]:
    """The commands of a path of matplotlib's, each with its points."""
    found: list[tuple[str, list[Point]]] = []
    tokens = _TOKEN.findall(path)
    at = 0
    while at < len(tokens):
        command = tokens[at]
        size = 2 * _PAIRS[command]
        numbers = [float(token) for token in tokens[at + 1 : at + 1 + size]]
        found.append((command, list(zip(numbers[::2], numbers[1::2], strict=True))))
        at += 1 + size
    return found


class _Pen:
    """Where a path is, rounded, so that roundings do not add up."""

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.here = self.start = (0.0, 0.0)

    def draw(self, command: str, points: list[Point]) -> str:
        """Return the command that draws to these points from here, and go there."""
        if command == "z":
            self.here = self.start
            return "z"
        if command == "M":
            self.here = self.start = self._rounded(points[0])
            return f"M{self._joined(self.here)}"
        steps = [step for point in points for step in self._away(point)]
        self.here = self._rounded(points[-1])
        return self._line(*steps) if command == "L" else command.lower() + self._joined(steps)

    def _line(self, x: float, y: float) -> str:
        across, down = short_number(x, self.digits), short_number(y, self.digits)
        if across == "0":
            return "" if down == "0" else f"v{down}"
        return f"h{across}" if down == "0" else f"l{self._joined((x, y))}"

    def _rounded(self, point: Point) -> Point:
        return round(point[0], self.digits), round(point[1], self.digits)

    def _away(self, point: Point) -> Point:
        there = self._rounded(point)
        return there[0] - self.here[0], there[1] - self.here[1]

    def _joined(self, numbers: Sequence[float]) -> str:
        """Numbers with a space only where a minus sign does not part them."""
        texts = [short_number(number, self.digits) for number in numbers]
        parted = (text if text.startswith("-") else f" {text}" for text in texts[1:])
        return texts[0] + "".join(parted)


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
    attributes = element.attrib
    for declaration in attributes.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key and key not in _DROPPED:
            attributes[key] = value.removesuffix("px")
    if _LINK in attributes:
        attributes["href"] = attributes.pop(_LINK)
    _shorten(element)
    for key in ("fill", "stroke"):
        if attributes.get(key) == INK:
            attributes[key] = "currentColor"
    if element.tag in ("path", "text", "circle", "use"):
        for key in [key for key, value in _ROOT.items() if attributes.get(key) == value]:
            del attributes[key]
    if attributes.get("stroke") is None:
        attributes.pop("stroke-linejoin", None)


def _shorten(element: ET.Element) -> None:
    attributes = element.attrib
    turned = attributes.get("transform", "")
    moved = _MOVED.fullmatch(turned) if element.tag == "text" else None
    if moved:
        attributes["x"], attributes["y"] = moved.groups()
    if moved or _NO_TURN.match(turned):
        del attributes["transform"]
    for key in _NUMBERS & attributes.keys():
        attributes[key] = short_number(float(attributes[key]))
    if "d" in attributes:
        attributes["d"] = short_path(attributes["d"])


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
        attributes = element.attrib
        if "id" in attributes:
            attributes["id"] = short[attributes["id"]]
        if attributes.get("href", "")[1:] in short:
            attributes["href"] = f"#{short[attributes['href'][1:]]}"
        for key, value in attributes.items():
            if value.startswith("url("):
                attributes[key] = _REFERENCE.sub(lambda found: f"url(#{short[found[1]]})", value)


@dataclass(frozen=True)
class AxisBox:
    """Where a pair of axes lies in a drawing, and which numbers of the result stand there."""

    x0: float
    """The left end, in the units of the drawing."""
    x1: float
    v0: float
    """The number at ``x0``."""
    v1: float
    y0: float
    """The lower end; a drawing counts downwards, so it is the larger one."""
    y1: float
    w0: float
    """The number at ``y0``."""
    w1: float
    scale: Literal["linear"] = "linear"


@dataclass(frozen=True)
class Drawing:
    """A drawing for a page: the text of an ``svg`` element, and where its axes are."""

    svg: str
    axes: tuple[AxisBox, ...]


def drawing(display: Shown, *, alt: str, name: str) -> Drawing:
    """Return a display as an ``svg`` element that a page can hold.

    It has no prolog, metadata, style sheet or ``style`` attribute (a strict content policy refuses
    those); text is text in the page's font, and what has the color of ink has that of the page's
    text. A mark that stands for a number of the result says which by ``data-path``, a JSON
    pointer.

    Parameters
    ----------
    display : Display or MessageDisplay
    alt : str
        What the drawing shows, for those who do not see it.
    name : str
        Begins every ``id`` in the drawing: another one for each drawing of a page.

    Examples
    --------
    >>> import fedparity as fp
    >>> table = {"score": [0.1, 0.3, 0.6, 0.8], "group": list("abab"), "silo": ["n", "n", "s", "s"]}
    >>> result = fp.audit(
    ...     table, silo="silo", score="score", group="group", score_range=(0, 1), redraws=20
    ... )
    >>> made = drawing(fp.plots.GroupCDFDisplay.from_audit(result), alt="Both groups", name="cdf")
    >>> made.svg[:4]
    '<svg'
    """
    buffer = io.BytesIO()
    with styled(svg_fonttype="none"), warnings.catch_warnings():
        # the page's font draws the letters; that matplotlib's has not all of them is no matter
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        _print(display.figure_, buffer)
    boxes = tuple(_box(ax, display.x_units, display.y_units) for ax in display.axes_)
    return Drawing(svg=rewritten(buffer.getvalue(), alt=alt, name=name), axes=boxes)


_FONTS = "DejaVu Sans, Verdana, sans-serif"
"""Names were measured in the first one; the second is as wide."""
_DOTS = 96
"""Pixels of a screen to the inch."""


def picture(display: Shown, *, alt: str, name: str) -> str:
    """Return a display as a picture that stands alone: opaque, of its own size, in a font without serifs.

    A notebook may be dark, and shows SVG outside its page, where nothing is inherited.
    """
    width, height = _pixels(display)
    svg = drawing(display, alt=alt, name=name).svg
    look = f'width="{width}" height="{height}" color="{INK}" font-family="{_FONTS}"'
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return svg.replace("<svg ", f"<svg {look} ", 1).replace("</title>", f"</title>{paper}", 1)


def png(display: Shown) -> tuple[str, int, int]:
    """Return a display as PNG in base64, for screens of twice the usual density, and its size on a page."""
    buffer = io.BytesIO()
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        display.ax_.get_figure(root=True).savefig(  # type: ignore[union-attr]  # it was drawn
            buffer, format="png", dpi=2 * _DOTS, facecolor=PAPER
        )
    return (base64.b64encode(buffer.getvalue()).decode("ascii"), *_pixels(display))


def _pixels(display: Shown) -> tuple[int, int]:
    figure = display.ax_.get_figure(root=True)
    if figure is None:
        raise ValueError  # axes that were drawn have a figure
    width, height = (round(_DOTS * inches) for inches in figure.get_size_inches())
    return width, height


def _print(figure: Figure, buffer: io.BytesIO) -> None:
    """Draw a figure once, without its background; ``savefig`` draws twice to place the axes."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 -- heavy

    canvas, dots, seen = figure.canvas, figure.dpi, figure.patch.get_visible()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.patch.set_visible(False)
    try:
        FigureCanvasSVG(figure).print_svg(buffer, metadata=nothing)  # type: ignore[no-untyped-call]
    finally:
        figure.patch.set_visible(seen)
        figure.set_canvas(canvas)
        figure.set_dpi(dots)


def _box(ax: Axes, x_units: Units, y_units: Units) -> AxisBox:
    """Where the axes are; SVG counts downwards, in points."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError  # axes that were drawn have a figure
    across, down = (72 * inches for inches in figure.get_size_inches())
    place = ax.get_window_extent().transformed(figure.transFigure.inverted())
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return AxisBox(
        x0=round(float(across * place.x0), 2),
        x1=round(float(across * place.x1), 2),
        v0=float(left) * x_units.size,
        v1=float(right) * x_units.size,
        y0=round(float(down * (1 - place.y0)), 2),
        y1=round(float(down * (1 - place.y1)), 2),
        w0=float(low) * y_units.size,
        w1=float(high) * y_units.size,
    )
