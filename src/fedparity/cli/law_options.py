"""The options by which an operator deals with the silo's own law: its policy and its ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from fedparity.errors.base import printable
from fedparity.privacy.policy import RULES, Policy
from fedparity.protocol.plan import Plan
from fedparity.releasing.permit import Permit

__all__ = ["law_options", "permit_of", "policy_option", "policy_words", "weaker_option"]

policy_option = click.option(
    "--policy", metavar="FILE", help="This silo's policy.  [default: per user]"
)
weaker_option = click.option(
    "--allow-weaker",
    multiple=True,
    type=click.Choice(RULES),
    metavar="RULE",
    help="Obey a plan that is weaker than this rule of the policy; may be repeated.",
)
_OPTIONS = (
    policy_option,
    click.option("--ledger", metavar="FILE", help="Record of releases.  [default: per user]"),
    click.option("--no-ledger", is_flag=True, help="Neither ask nor write the record."),
    click.option("--dataset", metavar="NAME", help="Which data set of the policy the table is."),
    weaker_option,
    click.option(
        "--again-because",
        metavar="TEXT",
        help="Why a second release of the same records is acceptable.",
    ),
    click.option("--in-period", is_flag=True, help="The rows are limited to the plan's period."),
)


def law_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a release."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def permit_of(options: dict[str, Any], plan: Plan, silo: str, data: object) -> Permit:
    """Return the permit that these options ask for.

    Raises
    ------
    RuleError
        If the silo's policy forbids the plan.
    """
    if options["no_ledger"] and options["ledger"]:
        raise click.UsageError("give either --ledger or --no-ledger.")
    return Permit.of(
        plan,
        silo,
        data=data,
        policy=options["policy"],
        ledger=False if options["no_ledger"] else options["ledger"],
        dataset=options["dataset"],
        allow_weaker=options["allow_weaker"],
        again_because=options["again_because"],
        in_period=options["in_period"],
    )


def policy_words(policy: Policy) -> str:
    """Return which policy was obeyed, for a line of output."""
    return "default" if policy.path is None else printable(policy.path)
