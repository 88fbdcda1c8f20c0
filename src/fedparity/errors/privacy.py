"""What a privacy mode refuses, and budgets that are spent."""

from __future__ import annotations

from fedparity.errors.disclosure import DisclosureError

__all__ = ["BudgetError", "PrivacyError"]


class PrivacyError(DisclosureError):
    """A privacy mode refuses a release: what it promises could not be kept."""

    @classmethod
    def overspent(cls, loss: float, epsilon: float) -> PrivacyError:
        return cls(
            f"OpenDP accounts for a privacy loss of {loss:g}, more than the plan's epsilon "
            f"{epsilon:g}; nothing was released.",
            fix="install the version of opendp that this version was tested with.",
        )

    @classmethod
    def epsilon_too_small(cls, epsilon: float, least: float) -> PrivacyError:
        return cls(
            f"epsilon = {epsilon:g} is below {least:g}, the least that noise is drawn for.",
            fix="agree on a plan with a larger epsilon; see fedparity plan privacy.",
        )

    @classmethod
    def weighted(cls, mode: str) -> PrivacyError:
        return cls(
            f"records with weights cannot be released in privacy mode {mode!r}: one record could "
            "change a sum of weights by any amount.",
            fix="leave out the weight, or agree on a plan without [privacy].",
        )

    @classmethod
    def sketch_in_secure_mode(cls, mode: str) -> PrivacyError:
        return cls(
            f"the plan's privacy mode is {mode!r}, in which a silo never sends a sketch of its own.",
            fix="follow the rounds of fedparity secure: keys, shares, mask, unmask.",
        )

    @classmethod
    def finished(cls) -> PrivacyError:
        return cls(
            "the noisy message was drawn already: records that come now would need a second "
            "one, and two messages protect less than one.",
            fix="give every batch before finish(), or start a new sketcher under a new plan.",
        )


class BudgetError(PrivacyError):
    """A release would cost more than what is left of a data set's budget."""
