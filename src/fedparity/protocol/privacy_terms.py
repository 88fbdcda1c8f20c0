"""The privacy terms of a plan: its ``[privacy]`` table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from fedparity.errors import PlanError
from fedparity.protocol.plan_fields import as_number, one_of, positive, whole

__all__ = ["MOST_SILOS", "PRIVACY_KEYS", "UNIT", "Dose", "PrivacyMode", "PrivacyTerms"]

PrivacyMode: TypeAlias = Literal["dp", "secure", "secure+dp"]
"""``dp``: noise in each silo; ``secure``: only sums over silos; ``secure+dp``: both."""
Dose: TypeAlias = Literal["full", "split"]
"""``full``: the noise of each silo suffices; ``split``: that of ``honest`` silos together."""

UNIT = "one record, add or remove"
"""What epsilon speaks of."""

_MOST_RECORDS = 10**12
_MOST_BINS = 4096
MOST_SILOS = 1000
"""Of a secure sum: every two of them agree on a key."""


def _edges(value: object) -> tuple[float, ...]:
    """Return the inner edges of the bins, which increase."""
    numbers = [as_number(edge) for edge in value] if isinstance(value, list | tuple) else []
    edges = tuple(number for number in numbers if number is not None)
    increasing = all(low < high for low, high in pairwise(edges))
    if not (1 <= len(edges) == len(numbers) < _MOST_BINS and increasing):
        raise PlanError.wrong(
            "edges",
            f"a list of 1 to {_MOST_BINS - 1:,} numbers that increase",
            value,
            fix="write the scores at which one bin ends and the next begins, without the ends of "
            "score_range; or leave edges out for bins of equal width.",
        )
    return edges


PRIVACY_KEYS: Mapping[str, Callable[[object], Any]] = {
    "mode": one_of("mode", *get_args(PrivacyMode)),
    "epsilon": positive("epsilon", 1.0),
    "bins": whole("bins", 2, _MOST_BINS, 32),
    "edges": _edges,
    "records": whole("records", 1, _MOST_RECORDS, 10_000),
    "budget": positive("budget", 1.0),
    "threshold": whole("threshold", 2, MOST_SILOS, 3),
    "dose": one_of("dose", *get_args(Dose)),
    "honest": whole("honest", 1, MOST_SILOS, 3),
}
"""The check of each key of the table, in the order in which it is written."""


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """How a plan protects single records beyond the disclosure rules.

    Each term is valid once built. A plan checks them together, and states every default: see
    :func:`~fedparity.protocol.privacy_settling.settle_terms`.

    Parameters
    ----------
    mode : "dp", "secure" or "secure+dp"
    epsilon : float, optional
        The privacy loss that one release may cost; needed with ``dp``, absent without.
    bins : int, optional
        Bins of the histograms; by default from ``records`` where noise is added, else 256.
    edges : sequence of float, optional
        Where bins meet: public numbers inside the score range, in increasing order.
    records : int, optional
        Public planning size: records of the smallest group in all silos together.
    budget : float, optional
        The loss that all releases of a silo from one data set may cost together; epsilon if absent.
    threshold : int, optional
        Silos whose shares are needed to open a secure sum: more than two thirds of them.
    dose : "full" or "split", optional
        Of the noise inside a secure sum; full if absent.
    honest : int, optional
        With a split dose, silos whose noise must suffice; ``threshold`` if absent.

    Examples
    --------
    >>> PrivacyTerms(mode="dp", epsilon=1, bins=32).to_dict()
    {'mode': 'dp', 'epsilon': 1.0, 'bins': 32}
    """

    mode: PrivacyMode
    epsilon: float | None = None
    bins: int | None = None
    edges: Sequence[float] | None = None
    records: int | None = None
    budget: float | None = None
    threshold: int | None = None
    dose: Dose | None = None
    honest: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None or field.name == "mode":
                object.__setattr__(self, field.name, PRIVACY_KEYS[field.name](value))

    @property
    def noisy(self) -> bool:
        """Whether noise is added, so that there is an epsilon."""
        return self.mode != "secure"

    @property
    def secure(self) -> bool:
        """Whether only sums over silos are seen."""
        return self.mode != "dp"

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as the plan's table holds them: those that are set."""
        stated = {name: getattr(self, name) for name in PRIVACY_KEYS}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in stated.items()
            if value is not None
        }

    @property
    def guarantee(self) -> dict[str, Any]:
        """What a message states of the terms; the plan, whose digest it carries, has the edges."""
        terms = {name: value for name, value in self.to_dict().items() if name != "edges"}
        return {**terms, "unit": UNIT} if self.noisy else terms
