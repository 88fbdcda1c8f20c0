"""``fedparity secure``: the rounds after which an auditor knows a sum over silos."""

from __future__ import annotations

import click

from fedparity.cli.lazy import LazyGroup, Place

__all__ = ["secure"]

_COMMANDS = {
    "keys": Place("secure_keys", "keys", "Silo, step 1: publish keys for this round."),
    "shares": Place("secure_shares", "shares", "Silo, step 2: split its secrets for all silos."),
    "mask": Place("secure_mask", "mask", "Silo, step 3: send its numbers, hidden by masks."),
    "request": Place("secure_request", "request", "Auditor, step 4: say whose numbers came."),
    "consent": Place("secure_consent", "consent", "Silo, step 5: sign that list (with keys)."),
    "unmask": Place("secure_unmask", "unmask", "Silo, step 6: help to open that one sum."),
}
"""In the order of a round."""


@click.group(cls=LazyGroup, places=_COMMANDS)
def secure() -> None:
    """Add up the silos' counts; the auditor sees the sum.

    With [keys] in the plan, 2t - d of the d silos together with the auditor could see another's
    own counts (t is the threshold), fewer of them the sum of the others. Without keys whoever
    carries the files could.

    Every step writes one file; files go to a folder that all can read. Three silos or more take
    part. One that drops out after step 2 is left out of the sum; step 4 needs as many silos as
    the plan's threshold. fedparity audit then reads the whole folder.

    \b
    Examples:
      fedparity secure keys plan.toml --silo aurora
      fedparity secure shares plan.toml inbox --silo aurora
      fedparity secure mask plan.toml patients.csv inbox --silo aurora \\
        --score risk --group sex
      fedparity secure request plan.toml inbox
      fedparity secure unmask plan.toml inbox --silo aurora
    """
