"""The privacy terms of a plan: its ``[privacy]`` table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from fedparity.errors import PlanError
from fedparity.protocol.frozen import FrozenMapping
from fedparity.protocol.plan_fields import one_of, positive, whole

__all__ = ["PRIVACY_KEYS", "PrivacyMode", "PrivacyTerms", "check_epsilon"]

PrivacyMode: TypeAlias = Literal["dp", "secure", "secure+dp"]
"""``dp``: noise in each silo; ``secure``: only sums over silos; ``secure+dp``: both."""

_MOST_RECORDS = 10**12

PRIVACY_KEYS: Mapping[str, Callable[[object], Any]] = {
    "mode": one_of("mode", *get_args(PrivacyMode)),
    "epsilon": positive("epsilon", 1.0),
    "bins": whole("bins", 2, 4096, 256),
    "records": whole("records", 1, _MOST_RECORDS, 10_000),
    "unit": one_of("unit", "record"),
    "dose": one_of("dose", "full", "split"),
    "threshold": whole("threshold", 1, _MOST_RECORDS, 3),
    "total_epsilon": positive("total_epsilon", 3.0),
}
"""The check of each key of the table."""


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """How a plan protects single records beyond the disclosure rules; valid once built.

    Parameters
    ----------
    mode : "dp", "secure" or "secure+dp"
    epsilon : float, optional
        The privacy loss that one release may cost; needed with ``dp``, absent without.
    extra : mapping, optional
        Further terms: ``bins``, ``records``, ``unit``, ``dose``, ``threshold``, ``total_epsilon``.

    Examples
    --------
    >>> PrivacyTerms(mode="dp", epsilon=1).to_dict()
    {'mode': 'dp', 'epsilon': 1.0}
    """

    mode: PrivacyMode
    epsilon: float | None = None
    extra: Mapping[str, Any] = FrozenMapping({})

    def __post_init__(self) -> None:
        mode = PRIVACY_KEYS["mode"](self.mode)
        epsilon = None if self.epsilon is None else PRIVACY_KEYS["epsilon"](self.epsilon)
        check_epsilon(mode, epsilon)
        extra = {name: _checked_extra(name, value) for name, value in self.extra.items()}
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "extra", FrozenMapping(extra))

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as the plan's table holds them."""
        stated = {} if self.epsilon is None else {"epsilon": self.epsilon}
        return {"mode": self.mode, **stated, **self.extra}


def _checked_extra(name: str, value: object) -> object:
    further = [key for key in PRIVACY_KEYS if key not in ("mode", "epsilon")]
    if name not in further:
        raise PlanError.unknown_key(name, further, None)
    return PRIVACY_KEYS[name](value)


def check_epsilon(mode: str, epsilon: float | None) -> None:
    """Raise unless there is an epsilon exactly where noise is added."""
    if "dp" in mode and epsilon is None:
        raise PlanError(
            f'[privacy] mode = "{mode}" needs an epsilon.',
            fix="add epsilon = 1.0, say; smaller protects more.",
        )
    if "dp" not in mode and epsilon is not None:
        raise PlanError(
            f'[privacy] mode = "{mode}" adds no noise, so it has no epsilon.',
            fix='remove epsilon, or set mode = "secure+dp".',
        )
