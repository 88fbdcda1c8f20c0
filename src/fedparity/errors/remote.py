"""Silos that are asked over a network: what their own settings refuse, and what never came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from fedparity.errors.base import InputError
from fedparity.errors.disclosure import DisclosureError

__all__ = ["AnsweredError", "ApprovalError", "SettingsError"]


class SettingsError(InputError):
    """Settings of a silo that do not say what is to be read, or under which plan."""

    @classmethod
    def missing(cls, key: str, meaning: str) -> SettingsError:
        return cls(
            f"the settings of this silo lack {key!r} ({meaning}).",
            fix=f'add a line {key} = "..." to the file that is passed as --node-config.',
        )

    @classmethod
    def unknown(cls, key: str, known: Iterable[str]) -> SettingsError:
        near = get_close_matches(key, list(known), 1)
        hint = f"write {near[0]!r} instead" if near else f"use one of {', '.join(known)}"
        return cls(f"{key[:60]!r} is not a setting of a silo.", fix=f"{hint}, or remove it.")

    @classmethod
    def wrong(cls, key: str, expected: str) -> SettingsError:
        return cls(f"the setting {key!r} must be {expected}.", fix=f"correct {key}.")

    @classmethod
    def secret(cls) -> SettingsError:
        return cls(
            "the address in data holds a password, which every process here can see.",
            fix="write the address to a file of mode 600 and name that file in url-file.",
        )

    @classmethod
    def unusable_data(cls, reason: str) -> SettingsError:
        return cls(
            f"the data of this silo cannot be used: {reason}.",
            fix="correct the settings that are passed as --node-config.",
        )

    @classmethod
    def unusable_plan(cls, reason: str) -> SettingsError:
        return cls(
            f"the plan in the settings of this silo cannot be used: {reason}.",
            fix="name the file of the plan that was approved, or its digest.",
        )

    @classmethod
    def not_simulated(cls, what: str) -> SettingsError:
        return cls(
            f"this silo has no settings of its own, and the run simulates none: {what}.",
            fix="start the node with --node-config SILO.toml; or, for a simulation, start flwr run by "
            "fedparity engine flower start, with simulated-data in the run's configuration.",
        )


class ApprovalError(DisclosureError):
    """A plan that the operator of a silo has not agreed to."""

    @classmethod
    def other_plan(cls, found: str, approved: str) -> ApprovalError:
        return cls(
            f"the auditor asks for plan {found}, but this silo agreed to {approved}.",
            fix="read the new plan; if it is to be answered, change plan in this silo's settings.",
        )


class AnsweredError(DisclosureError):
    """A question that was answered before."""

    @classmethod
    def before(cls, silo: str, path: object) -> AnsweredError:
        return cls(
            f"silo {silo!r} has answered this plan before.",
            fix=f"to send the very same bytes once more ({path}), set again = true in the "
            "settings of this silo; for anything else a new plan is needed.",
        )


def reasons_given(reasons: Mapping[str, str], most: int = 8) -> str:
    """Return who did not answer and why, cut after ``most``.

    Examples
    --------
    >>> reasons_given({"bayside": "no answer in time"})
    "'bayside' (no answer in time)"
    """
    shown = [f"{silo!r} ({reason})" for silo, reason in reasons.items()]
    more = "" if len(shown) <= most else f" and {len(shown) - most} more"
    return ", ".join(shown[:most]) + more
