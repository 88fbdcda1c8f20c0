"""One line per silo, with its interval drawn on a scale common to all."""

from __future__ import annotations

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import cut, left, number, right, width_of, wrapped
from fedparity.report.sentences.alone import READING_SILOS

__all__ = ["silo_lines"]

_ALL, _SOME = 40, 15
"""Up to so many silos all are shown, beyond only those of largest influence."""
_COUNT, _VALUE, _INFLUENCE = 9, 9, 9
_LONGEST_NAME = 22


def silo_lines(result: AuditResult, width: int) -> list[str]:
    """Return a table of the silos that fits ``width`` columns."""
    influence = {each.silo: each.influence for each in result.attribution.silos}
    shown = _chosen(result, influence)
    names = min(max((width_of(silo.silo) for silo in shown), default=4), _LONGEST_NAME)
    names = max(names, 4)
    space = width - (2 + names + _COUNT + _VALUE + 2 + 1 + _INFLUENCE)
    scale = _Scale(result, shown, space)
    heading = (
        f"  {left('silo', names)}{right('records', _COUNT)}{right('alone', _VALUE)}  "
        f"{left(scale.legend, space)} {right('influence', _INFLUENCE)}"
    )
    lines = [heading.rstrip()]
    for silo in shown:
        drawn = scale.drawn(silo) if silo.disparity is not None else cut(silo.note, space)
        lines.append(
            f"  {left(silo.silo, names)}{right(_records(silo), _COUNT)}"
            f"{right(_optional(silo.disparity), _VALUE)}  "
            f"{left(drawn, space)} {right(_signed(influence[silo.silo]), _INFLUENCE)}".rstrip()
        )
    return lines + _remaining(result, shown, width)


def _chosen(result: AuditResult, influence: dict[str, float | None]) -> list[SiloResult]:
    if len(result.silos) <= _ALL:
        return list(result.silos)
    return sorted(result.silos, key=lambda silo: -abs(influence[silo.silo] or 0.0))[:_SOME]


def _remaining(result: AuditResult, shown: list[SiloResult], width: int) -> list[str]:
    """What stands below the table: what it leaves out, and how to read it."""
    more = len(result.silos) - len(shown)
    words = READING_SILOS
    if more:
        words = f"The {len(shown)} of largest influence; {more:,} more are in the JSON. {words}"
    return wrapped(words, width, first="  ")


def _records(silo: SiloResult) -> str:
    known = [count for count in silo.n.values() if count is not None]
    if not known:
        return "-"
    more = "+" if len(known) < len(silo.n) else ""
    return f"{sum(known):,.12g}{more}"


def _optional(value: float | None) -> str:
    return "-" if value is None else number(value)


def _signed(value: float | None) -> str:
    if value is None:
        return "-"
    text = number(value, 2)
    return f"+{text}" if value > 0 else text


class _Scale:
    """Positions of disparities from 0 to the largest one shown."""

    def __init__(self, result: AuditResult, shown: list[SiloResult], width: int) -> None:
        self.width, self.whole = width, result.disparity.value
        ends = [silo.interval.upper for silo in shown if silo.interval is not None]
        alone = [silo.disparity for silo in shown if silo.disparity is not None]
        self.largest = max((self.whole, *ends, *alone)) or 1.0

    @property
    def legend(self) -> str:
        """The scale in words."""
        return f"0 to {number(self.largest, 2)}, ┊ all silos"

    def drawn(self, silo: SiloResult) -> str:
        """The silo's interval and disparity, and that of all silos together."""
        marks = [" "] * self.width
        marks[self._at(self.whole)] = "┊"
        if silo.interval is not None:
            start, end = map(self._at, silo.interval)
            marks[start : end + 1] = "─" * (end + 1 - start)
        marks[self._at(silo.disparity or 0.0)] = "●"
        return "".join(marks).rstrip()

    def _at(self, value: float) -> int:
        return min(round(value / self.largest * (self.width - 1)), self.width - 1)
