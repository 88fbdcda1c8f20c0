"""``fedparity audit``, and what it shares with ``simulate``: options, output and exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from fedparity.auditing.audit import audit_messages
from fedparity.cli.audit_text import audit_text
from fedparity.cli.main import ExitCode
from fedparity.cli.message_files import (
    check_complete,
    inspect_files,
    message_files,
    missing_silos,
)
from fedparity.cli.options import PROBABILITY, SigningOptions, nested, option, with_options
from fedparity.cli.output import Progress, note, progress_bar
from fedparity.cli.report_commands import ReportOptions
from fedparity.documents.files import refuse_existing
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.errors import MessageError
from fedparity.errors.base import printable
from fedparity.modes.mode import AuditOptions as Options
from fedparity.modes.mode import mode_of
from fedparity.text import counted
from fedparity.uncertainty.checks import FEWEST_REDRAWS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["AuditOptions", "ResultCommand", "ResultOptions", "audit"]


class ResultCommand(click.Command):
    """A command whose ``--fail-above`` never takes the word after it: only ``--fail-above=answered`` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the value that ``--fail-above`` alone stands for written out."""
        words = args.index("--") if "--" in args else len(args)
        stated = ["--fail-above=all" if word == "--fail-above" else word for word in args[:words]]
        return super().parse_args(ctx, stated + args[words:])


@dataclass(frozen=True)
class ResultOptions:
    """How a result is computed, printed and written, and what the command ends with."""

    as_json: bool = option("--json", "Print the result as JSON.")
    output: str | None = option("-o, --output FILE", "Write the result as JSON to a file.")
    force: bool = option("--force", "Replace existing output files.")
    reports: ReportOptions = nested(ReportOptions)
    confidence: float = option(
        "--confidence", "Confidence level of the intervals.", type=PROBABILITY, default=0.95
    )
    seed: int = option("--seed", "Random seed of the bootstrap.", min=0, default=0)
    redraws: int | None = option("--redraws", "Number of bootstrap samples.", min=FEWEST_REDRAWS)
    thresholds: tuple[float, ...] = option(
        "--threshold SCORE", "Add rates and ratios at a score to every output; may be repeated."
    )
    tails: tuple[float, ...] = option(
        "--tail LEVEL",
        "Add the share of each group above a quantile of everyone (0.5: LL144 scoring rate).",
        type=PROBABILITY,
    )
    details: bool = option("--details", "Show formulas, every kind of bound, and all silos.")
    fail_above: Literal["all", "answered"] | None = option(
        "--fail-above [=answered]",
        "Exit code 10 above the review level for all; or among those who answered.",
        type=click.Choice(["all", "answered"]),
    )

    def check(self) -> None:
        """Refuse outputs that cannot be written, before anything is measured."""
        if self.output and not self.force:
            refuse_existing(self.output)
        self.reports.check(force=self.force, others=[self.output])
        if self.reports.is_printed and self.as_json:
            raise click.UsageError("a report that is printed leaves no room for --json.")

    def finish(
        self, context: click.Context, measured: AuditResult, key: Ed25519PrivateKey | None = None
    ) -> None:
        """Write and print the result; exit with code 10 if ``--fail-above`` says so.

        A report that is printed takes the place of the text.
        """
        result = measured.with_rates(thresholds=self.thresholds, tails=self.tails)
        if key is not None:
            result = result.signed(key)
        if self.output:
            result.write(self.output, force=self.force)
        self.reports.write(result, force=self.force)
        if not self.reports.is_printed:
            click.echo(
                result.to_json() if self.as_json else audit_text(result, details=self.details)
            )
        if self.output:
            note(f"wrote {printable(self.output)}")
        if self.fail_above is None:
            return
        if result.disparity.review_level is None:
            click.echo(
                "warning: --fail-above has no effect: the plan has no review level", err=True
            )
        if getattr(result.disparity.verdict, self.fail_above) == "above":
            context.exit(ExitCode.ABOVE)


@dataclass(frozen=True)
class AuditOptions:
    """The options of an audit."""

    result: ResultOptions = nested(ResultOptions)
    signing: SigningOptions = nested(SigningOptions)
    require_all: bool = option("--require-all", "Exit code 5 if a silo of the roster is missing.")


@click.command(cls=ResultCommand)
@click.argument("plan", type=click.Path())
@click.argument("sketches", type=click.Path(), nargs=-1, required=True)
@with_options(AuditOptions)
@click.pass_context
def audit(
    context: click.Context, plan: str, sketches: tuple[str, ...], options: AuditOptions
) -> None:
    """Measure the disparity of all silos together, from their messages.

    SKETCHES are files, patterns, or folders of files that end in .json. A message that does not
    answer PLAN is refused (exit code 3), never left out; missing silos and withheld cells are
    named and widen the bounds.

    \b
    Examples:
      fedparity audit plan.toml inbox
      fedparity audit plan.toml inbox --json > result.json
      fedparity audit plan.toml inbox -o result.json --fail-above --require-all
      fedparity audit plan.toml inbox --threshold 0.5 --tail 0.9
      fedparity audit plan.toml inbox --html audit.html --pdf audit.pdf
      fedparity audit plan.toml inbox -o result.json --sign auditor.key
    """
    options.result.check()
    key = options.signing.key()
    agreed = Plan.read(plan)
    files = message_files(sketches)
    with progress_bar("steps") as progress:
        result = _measured(agreed, files, options, progress)
    options.result.finish(context, result, key)


def _measured(
    plan: Plan, files: Sequence[str], options: AuditOptions, progress: Progress | None
) -> AuditResult:
    secure = mode_of(plan).in_rounds
    messages: Sequence[SiloSketch | str] = files if secure else _read(plan, files, progress)
    if options.require_all and not secure:
        seen = (each.silo for each in messages if isinstance(each, SiloSketch))
        check_complete(plan, missing_silos(plan, seen))
    chosen = options.result
    result = audit_messages(
        plan,
        messages,
        Options(
            confidence=chosen.confidence,
            seed=chosen.seed,
            redraws=chosen.redraws,
            progress=progress,
        ),
    )
    if options.require_all and secure:  # the silos of a sum are known once it is opened
        check_complete(plan, list(result.silos_missing))
    return result


def _read(plan: Plan, files: Sequence[str], progress: Progress | None) -> list[SiloSketch]:
    """The messages, each checked as it is read; the error names the first that is refused.

    Raises
    ------
    MessageError
        If one is refused; it says how many more are.
    """
    found = inspect_files(plan, files, progress)
    refused = [each.error for each in found if each.error is not None]
    if len(refused) > 1:
        raise MessageError(
            f"{refused[0].message} {counted(len(refused) - 1, 'more message')} refused.",
            fix="run fedparity verify with the same plan and messages to see all of them.",
        )
    if refused:
        raise refused[0]
    return [each.sketch for each in found if each.sketch is not None]
