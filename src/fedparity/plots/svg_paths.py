"""Paths of an SVG drawing with few digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["circle_radius", "short_number", "short_path"]

_DIGITS = 2
_MANY = 30
"""A path of so many points is a curve: one decimal, a twentieth of a point, is enough for it."""
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
