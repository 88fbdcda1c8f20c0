"""On what terms an auditor asks: how many silos suffice, and how long they are waited for."""

from __future__ import annotations

from dataclasses import dataclass

from fedparity.diagnostics.checks import check_confidence
from fedparity.errors import OptionError
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import threshold_of

__all__ = ["Terms"]

_FEWEST = 20
"""Redraws of the bootstrap, as :func:`fedparity.assess` demands."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How silos are waited for, and how their messages are audited.

    Parameters
    ----------
    quorum : int, optional
        Silos without which there is no result; all of the plan's if absent.
    wait : float
        Seconds in which silos may connect before they are asked.
    limit : float
        Seconds in which they have to answer, for each round.
    confidence, seed, redraws
        As in :func:`fedparity.audit`.
    """

    quorum: int | None = None
    wait: float = 60.0
    limit: float = 600.0
    confidence: float = 0.95
    seed: int = 0
    redraws: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("wait", 0.0), ("limit", 1.0)):
            if not least <= getattr(self, name) <= 1e6:
                raise OptionError(
                    f"{name} must be a number of seconds of at least {least:g}.",
                    fix=f"set {name} in the configuration of the run.",
                )
        check_confidence(self.confidence)  # now, and not after silos have answered
        for name, fewest in (("seed", 0), ("redraws", _FEWEST)):
            value = getattr(self, name)
            if value is not None and value < fewest:
                raise OptionError(
                    f"{name} must be a whole number of at least {fewest}.",
                    fix=f"set {name} in the configuration of the run.",
                )

    def quorum_for(self, plan: Plan) -> int:
        """Return how many silos must answer a plan.

        Raises
        ------
        OptionError
            If the plan has no roster, the quorum is more than it lists, or fewer than a secure
            sum needs.
        """
        if plan.silos is None:
            raise OptionError(
                "the plan lists no silos, so nobody can say who is missing.",
                fix="add silos = [...] to the plan.",
            )
        quorum = len(plan.silos) if self.quorum is None else self.quorum
        least = 1
        if plan.privacy is not None and plan.privacy.secure:
            least = threshold_of(plan)
        if not least <= quorum <= len(plan.silos):
            raise OptionError(
                f"the quorum must be between {least} and {len(plan.silos)}, not {quorum}.",
                fix="set quorum in the configuration of the run.",
            )
        return quorum
