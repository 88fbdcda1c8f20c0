"""``fedparity engine flower preview``: all that would leave a silo, seen by its operator first."""

from __future__ import annotations

import click

from fedparity.cli.noise_text import preview_text
from fedparity.cli.progress import progress_bar
from fedparity.cli.secure_mask_text import dry_run_text as masked_text
from fedparity.cli.sketch_text import dry_run_text
from fedparity.engines.remote.settings import SiloSettings
from fedparity.errors import MessageError
from fedparity.protocol.plan import Plan
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import Preview, count_records
from fedparity.releasing.release import release_records
from fedparity.releasing.secure.numbers import count_records as count_for_sum

__all__ = ["preview"]


@click.command(short_help="Silo: see what would leave.")
@click.argument("settings", type=click.Path())
@click.option(
    "--plan", "plan_file", default="plan.toml", show_default=True, type=click.Path(), help="Plan."
)
def preview(settings: str, plan_file: str) -> None:
    """Show all that would leave this silo under its SETTINGS; send nothing.

    SETTINGS is the file that flower-supernode gets as --node-config. The table is read. The
    plan must be the one that the settings name by its digest. Exit code 4 if it is not. Under a
    plan with a privacy mode the node reads the table only after this has found no mistake in it,
    and once: whether there is one is not the auditor's to find out.

    \b
    Examples:
      fedparity engine flower preview aurora.toml
      fedparity engine flower preview aurora.toml --plan audit/audit_app/plan.toml
    """
    plan, own = Plan.read(plan_file), SiloSettings.read(settings)
    own.check_approved(plan)
    with progress_bar("rows") as progress:
        text = _text(plan, own, Effort(progress=progress))
    click.echo(text)
    if plan.privacy is not None:
        own.make_ready(plan)
        click.echo(
            "the table can be used; when the auditor asks, this silo reads it once", err=True
        )


def _text(plan: Plan, own: SiloSettings, effort: Effort) -> str:
    if plan.silos is not None and own.silo not in plan.silo_set:
        raise MessageError.not_in_roster(own.silo, plan.silos)
    permit = own.permit(plan)
    records = own.records(plan)
    if plan.privacy is not None and plan.privacy.secure:
        count_for_sum(plan, records, effort)
        return masked_text(plan, own.silo)
    if plan.privacy is not None and permit is not None:
        count_records(records, plan, effort=effort)  # a mistake in them is found here
        return preview_text(Preview.of(plan, own.silo), permit)
    return dry_run_text(release_records(records, plan=plan, silo=own.silo, effort=effort), plan)
