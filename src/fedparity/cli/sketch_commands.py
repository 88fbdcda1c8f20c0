"""``fedparity sketch``: a silo's one command, from its table to the message that leaves.

Its text shows the operator of the silo, in 80 columns, all that leaves and what the rules withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from fedparity.cli.options import (
    ReleaseOptions,
    SigningOptions,
    TableOptions,
    byte_count,
    nested,
    option,
    reading_words,
    row_lines,
    with_options,
)
from fedparity.cli.output import Progress, note, print_json, progress_bar
from fedparity.cli.settings_file import SavedSettingsOptions
from fedparity.documents.fields import group_words, json_label
from fedparity.documents.files import file_name, refuse_existing
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell, table_keys
from fedparity.documents.plan import Plan
from fedparity.errors import DisclosureError
from fedparity.errors.base import printable
from fedparity.laws.labels import Group
from fedparity.modes.mode import Release, mode_of
from fedparity.silo.permit import Permit
from fedparity.silo.sketch import prepare, preview
from fedparity.sketches.select import ComputeOptions
from fedparity.text import counted, cut, left, named, number, right, width_of, wrapped

if TYPE_CHECKING:
    from fedparity.modes.noisy import Preview

__all__ = ["SketchOptions", "dry_run_text", "numbers_words", "preview_text", "sketch"]


@dataclass(frozen=True)
class SketchOptions:
    """The options of a sketch."""

    silo: str = option("--silo NAME", "This silo's name in the plan.", required=True)
    table: TableOptions = nested(TableOptions)
    memory: int | None = option(
        "--memory SIZE",
        "Memory for records, such as 2GB.  [default: a quarter of all]",
        callback=byte_count,
    )
    threads: int | None = option("--threads", "Threads to use.  [default: one per core]", min=1)
    kernel: Literal["auto", "numpy", "numba"] = option(
        "--kernel", "Implementation to use; the result is the same.", default="auto"
    )
    output: str | None = option("-o, --output FILE", "File to write.  [default: NAME.sketch.json]")
    dry_run: bool = option("--dry-run", "Show what would leave; write nothing.")
    as_json: bool = option("--json", "Print JSON; with --dry-run, the exact file.")
    signing: SigningOptions = nested(SigningOptions)
    release: ReleaseOptions = nested(ReleaseOptions)
    saved: SavedSettingsOptions = nested(SavedSettingsOptions)
    force: bool = option("--force", "Replace an existing output file.")
    verbose: bool = option("--verbose", "Print how the message was computed.")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("data", type=click.Path(), required=False)
@with_options(SketchOptions)
@click.pass_context
def sketch(context: click.Context, plan: str, data: str | None, options: SketchOptions) -> None:
    """Reduce the table DATA to the message that PLAN requests of this silo.

    DATA is a CSV, TSV, Excel, Parquet or Arrow file, a folder or a pattern of them, - for text on
    the standard input, or the address of a database, such as postgresql://user@host/name, or of
    Spark, such as spark://host:7077, with --table or --query. Start with --dry-run: it shows all
    that would leave and writes nothing. --save-settings saves the options for the next release.
    This silo's policy decides whether the plan is obeyed (fedparity policy show); the ledger, a
    local file, refuses a second release of the same records, or one beyond the budget: $FEDPARITY_LEDGER, or
    fedparity/ledger.jsonl in the folder for state of this user. The same command again writes
    the same message, or finishes one that was interrupted.
    Exit code 4 if a rule refuses the release.

    \b
    Examples:
      fedparity sketch plan.toml patients.csv --silo aurora --score risk \\
        --group sex --dry-run
      fedparity sketch plan.toml 'visits/*.parquet' --silo aurora --score risk \\
        --group sex --where "year = 2026" --map F=female --sign aurora.key
      fedparity sketch plan.toml export.csv --delimiter ';' --decimal , \\
        --silo aurora --score risk --group sex --save-settings silo.toml
      fedparity sketch next-quarter.toml --settings silo.toml
      fedparity sketch plan.toml --url-file clinic.url --table clinic.visits \\
        --silo aurora --score risk --group sex
    """
    source, agreed, silo = options.table.source(data), Plan.read(plan), options.silo
    output = options.output or f"{file_name(silo)}.sketch.json"
    options.saved.check(force=options.force)
    if not (options.dry_run or options.force):
        refuse_existing(output)
    mode_of(agreed).check(silo, weighted=options.table.weight is not None)
    permit = options.release.permit(agreed, silo, source, options.table.reading())
    if options.dry_run:
        _dry_run(source, agreed, permit, options)
        options.saved.save(context, force=options.force)
        return
    key = options.signing.key()
    if agreed.keys and key is None:
        raise click.UsageError("the plan has keys, so the message must be signed with --sign KEY.")
    finished = permit.finish(output, force=options.force)
    if finished is not None:
        if options.as_json:
            print_json(_release_summary(finished, output, permit))
        note(f"wrote {printable(output)}\ndigest {finished.digest}")
        note("an earlier run was interrupted after its entry; this is its message")
        return
    permit.check()
    release = _prepared(source, agreed, options).replacing(permit.voided())
    if key is not None:
        release = release.signed(key)
    if options.verbose:
        click.echo(_execution_text(release), err=True)
    from fedparity.documents.message_checks import check_message  # noqa: PLC0415 -- not in a dry run

    check_message(agreed, release.sketch)  # a wrong key is found here, not by the auditor
    permit.write(output, release.sketch, force=options.force, rows=release.rows)
    if options.as_json:
        print_json(_release_summary(release.sketch, output, permit))
    note(_written_text(release, output, permit))
    options.saved.save(context, force=options.force)


def _dry_run(source: object, plan: Plan, permit: Permit, options: SketchOptions) -> None:
    """Show what would leave; sign nothing, enter nothing, draw no noise."""
    with progress_bar("rows") as progress:
        shown = preview(
            source,
            plan=plan,
            silo=options.silo,
            options=_compute_options(options, progress),
            **options.table.reading(),
        )
    if isinstance(shown, Release):
        if options.verbose:
            click.echo(_execution_text(shown), err=True)
        if options.as_json:
            click.echo(shown.sketch.to_bytes(), nl=False)
        else:
            click.echo(dry_run_text(shown, plan, permit.reading))
    else:
        noisy = cast("Preview", shown)
        if options.as_json:
            print_json(_preview_summary(noisy, permit))
        else:
            click.echo(preview_text(noisy, permit))
    try:
        permit.check()
    except DisclosureError as error:
        click.echo(f"warning: at present a release is refused: {error}", err=True)


def _prepared(source: object, plan: Plan, options: SketchOptions) -> Release:
    reading = options.table.reading()
    with progress_bar("rows") as progress:
        computing = _compute_options(options, progress)
        return prepare(source, plan=plan, silo=options.silo, **reading, options=computing)


def _compute_options(options: SketchOptions, progress: Progress | None) -> ComputeOptions:
    return ComputeOptions(
        memory=options.memory,
        threads=options.threads,
        kernel=options.kernel,
        progress=progress,
    )


def _execution_text(release: Release) -> str:
    how = release.execution
    if how.strategy == "where they are":
        rows = sum(release.records.values())
        return (
            f"{rows:,} records, ranked inside {how.kernel} by {how.passes} queries; none was read"
        )
    passes = f"{how.passes} pass{'' if how.passes == 1 else 'es'}"
    done = f"{how.strategy}, {passes} with the {how.kernel} kernel"
    if not release.records:  # an exact number of records is not for a log
        return f"noisy counts, {done}"
    return f"{sum(release.records.values()):,} records, {done}"


_WIDTH = 80
_LONGEST_LABEL = 20
_COLUMNS = (("count", 11), ("levels", 7), ("lowest", 10), ("median", 10), ("highest", 10))


def dry_run_text(
    release: Release, plan: Plan, reading: Mapping[str, Any] | None = None, width: int = _WIDTH
) -> str:
    """Return all that would leave, what would not, which rules decided that, and what was read."""
    sketch = release.sketch
    rows = [] if release.rows is None else ["", *row_lines(release.rows, width)]
    how = wrapped(f"Read with {reading_words(reading)}", width, rest="  ") if reading else []
    lines = [
        *wrapped(f"{sketch.silo}: what would leave under “{plan.title}”", width),
        "",
        *_table(sketch.cells, width),
        *_numbers_text(sketch.cells, plan, width),
        *_further_tables(sketch, plan, width),
        "",
        *wrapped(_size_words(sketch), width),
        f"digest  {sketch.digest}",
        f"plan    {sketch.plan}",
        "",
        *_rules(release, plan, width),
        *rows,
        *how,
        "",
        *wrapped(
            "Not sent: names or identifiers; any other column; the numbers of records of withheld "
            "groups; labels of the table and how they were read; and this explanation. "
            "fedparity sketch --dry-run --json prints the exact file.",
            width,
        ),
    ]
    return "\n".join(lines)


def _written_text(release: Release, output: str, permit: Permit) -> str:
    """What was written, under which rules of the silo, and what to do with it."""
    sketch, ledger, path = release.sketch, permit.ledger, permit.policy.path
    policy = "default" if path is None else printable(path)
    kept = "none: not entered anywhere" if ledger is None else printable(ledger.path)
    lines = [
        f"wrote {printable(output)}",
        *wrapped(_size_words(sketch), _WIDTH, first="  "),
    ]
    lines += [f"  {group_words(group)}: {reason}" for group, reason in _reasons(release)]
    lines += [f"digest {sketch.digest}", f"policy {policy}", f"ledger {kept}"]
    if mode_of(permit.plan).cost.epsilon is not None:
        lines += wrapped(f"cost {_spending_words(permit)}", _WIDTH, rest="  ")
    if sketch.replaces is not None:
        lines += [f"replaces {sketch.replaces}, which was voided"]
    if permit.weaker:
        lines += [f"weaker than the policy: {', '.join(permit.weaker)}"]
    return "\n".join([*lines, "next: send the file, unchanged, to the auditor"])


def _release_summary(sketch: SiloSketch, output: str, permit: Permit) -> dict[str, Any]:
    """What was written, for JSON; without what stays in the building."""
    return {
        "file": output,
        "silo": sketch.silo,
        "plan": sketch.plan,
        "digest": sketch.digest,
        "bytes": len(sketch.to_bytes()),
        "signed": sketch.signature is not None,
        "replaces": sketch.replaces,
        "dataset": permit.dataset,
        "policy": None if permit.policy.path is None else str(permit.policy.path),
        "weaker": list(permit.weaker),
        "ledger": None if permit.ledger is None else str(permit.ledger.path),
        "cells": [
            {"group": json_label(cell.group), "levels": cell.levels, "withheld": cell.withheld}
            for cell in sketch.cells
        ],
    }


def _further_tables(sketch: SiloSketch, plan: Plan, width: int) -> list[str]:
    """The tables by axis and by outcome, with all numbers of those that have any."""
    lines: list[str] = []
    for (table, outcome), sent in zip(table_keys(plan), sketch.tables, strict=True):
        who = "everybody" if outcome is None else f"outcome {outcome}"
        what = f"by {', '.join(table.by)}, who is in no cell above" if table.by else "by group"
        heading = f"{what[0].upper()}{what[1:]}: {who}"
        if all(cell.count == 0 for cell in sent.cells):
            lines += ["", cut(f"{heading}: nobody", width)]
            continue
        own = plan.table_plan(table, by_outcome=outcome is not None)
        lines += ["", cut(heading, width), *_table(sent.cells, width)]
        lines += _numbers_text(sent.cells, own, width)
    return lines


def _table(cells: Sequence[SketchedCell | HistogramCell], width: int) -> list[str]:
    labels = [group_words(cell.group) for cell in cells]
    names = min(max(5, *map(width_of, labels)), _LONGEST_LABEL)
    heading = left("group", names) + "".join(right(name, wide) for name, wide in _COLUMNS)
    lines = [cut(f"{heading}  status", width)]
    for label, cell in zip(labels, cells, strict=True):
        columns = "".join(
            right(text, wide) for text, (_, wide) in zip(_numbers(cell), _COLUMNS, strict=True)
        )
        lines.append(cut(f"{left(label, names)}{columns}  {_status(cell)}", width))
    return lines


def _numbers(cell: SketchedCell | HistogramCell) -> list[str]:
    count = "-" if cell.count is None else f"{cell.count:,.12g}"
    if cell.values is None:
        return [count, "-", "-", "-", "-"]
    if isinstance(cell, SketchedCell) and cell.counts is not None:
        return [count, f"{cell.levels:,}", "-", "-", "-"]
    middle = cell.values[(cell.levels - 1) // 2]
    shown = (number(float(value), 6) for value in (cell.values[0], middle, cell.values[-1]))
    return [count, f"{cell.levels:,}", *shown]


def _status(cell: SketchedCell | HistogramCell) -> str:
    if cell.withheld is not None:
        return f"withheld ({cell.withheld})"
    if cell.values is None:
        return "no record"
    return f"sent, ranks ±{number(cell.rank_error)}" if cell.rank_error else "sent"


def _size_words(sketch: SiloSketch) -> str:
    signed = "signed" if sketch.signature else "not signed"
    words = numbers_words(sketch)
    if sketch.rows_dropped:
        words += f"; {counted(sketch.rows_dropped, 'row')} without a score left out"
    if sketch.rows_filtered:
        words += f"; {counted(sketch.rows_filtered, 'row')} left out by the filter"
    return f"{words}; {len(sketch.to_bytes()):,} bytes, {signed}"


def _rules(release: Release, plan: Plan, width: int) -> list[str]:
    """The rules that changed something; their reasons stay in the building."""
    lines = ["Rules that held something back"]
    found = [
        wrapped(f"{group_words(group)}: {reason}", width, first="  - ", rest="    ")
        for group, reason in _reasons(release)
    ]
    if plan.rounding:
        step = plan.rounding * (plan.score_range[1] - plan.score_range[0])
        words = f"all values are rounded to {number(step)}"
        if plan.sketch == "mean":
            words += ", and mean squares accordingly"
        found.append(wrapped(words, width, first="  - ", rest="    "))
    return [*lines, *chain.from_iterable(found or [["  - none"]])]


def _reasons(release: Release) -> list[tuple[Group, str]]:
    return [
        (group, reason)
        for group, decision in release.decisions.items()
        for reason in decision.reasons
    ]


_VALUES = {"mean": "bin mean", "quantile": "quantile"}


def numbers_words(sketch: SiloSketch) -> str:
    """Return how many numbers leave, and what they are.

    Examples
    --------
    >>> from fedparity.documents.message import SiloSketch
    >>> cell = SketchedCell(group="A", count=40, values=[0.1, 0.5], mean_square=0.02, above=[17])
    >>> cells = [cell, SketchedCell.kept_back("B", "small")]
    >>> plan = "sha256:" + 64 * "0"
    >>> numbers_words(SiloSketch(plan=plan, silo="a", kind="mean", cells=cells, software="x 1"))
    '5 numbers: 1 count, 2 values, 1 mean square and 1 threshold count'
    """
    tables = [sketch.cells, *(table.cells for table in sketch.tables)]
    cells = [cell for each in tables for cell in each if isinstance(cell, SketchedCell)]
    kinds = {
        "count": sum(cell.count is not None for cell in cells),
        "effective number": sum(cell.effective is not None for cell in cells),
        "value": sum(cell.levels for cell in cells),
        "count at scores": sum(_stated(cell.counts or ()) for cell in cells),
        "mean square": sum(cell.mean_square is not None for cell in cells),
        "threshold count": sum(_stated(cell.above) for cell in cells),
        "rank error": sum(bool(cell.rank_error) for cell in cells),
    }
    *most, last = [_counted(number, kind) for kind, number in kinds.items() if number] or ["none"]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{counted(sum(kinds.values()), 'number')}: {listed}"


def _numbers_text(
    cells: Sequence[SketchedCell | HistogramCell], plan: Plan, width: int
) -> list[str]:
    """The numbers themselves, of every group that sends some."""
    lines: list[str] = []
    for cell in cells:
        if isinstance(cell, SketchedCell) and cell.values is not None:
            lines += ["", *wrapped(f"{group_words(cell.group)}: {_records(cell)}", width)]
            for sentence in _sentences(cell, plan):
                lines += wrapped(sentence, width, first="  ", rest="    ")
    return lines


def _records(cell: SketchedCell) -> str:
    number = _amount(cell.count or 0)
    if cell.effective is None:
        return f"{number} record{'' if cell.count == 1 else 's'}"
    return f"weight {number}, which amounts to {counted(cell.effective, 'record')}"


def _sentences(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    if cell.counts is not None:
        yield f"counts at scores: {', '.join(_runs(cell, plan))}"
    elif cell.values is not None:
        values = " ".join(map(_exact, cell.values.tolist()))
        yield f"{counted(cell.levels, _VALUES.get(plan.sketch, 'value'))}: {values}"
    if cell.mean_square is not None:
        yield f"mean squared distance from them: {_exact(cell.mean_square)}"
    for threshold, above in zip(plan.thresholds, cell.above, strict=True):
        yield f"at or above {_exact(threshold)}: {'not sent' if above is None else _amount(above)}"
    if cell.rank_error:
        yield f"ranks may be off by a share of {_exact(cell.rank_error)}"


def _runs(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    """The count of each run of scores; one without a count is counted with the run before."""
    points = plan.score_points.tolist()
    ends = [points.index(value) for value in (cell.values if cell.values is not None else ())]
    for (before, end), records in zip(pairwise([-1, *ends]), cell.counts or (), strict=True):
        low, high = _exact(points[before + 1]), _exact(points[end])
        scores = low if low == high else f"{low} to {high}"
        yield f"{scores}: {'with those before' if records is None else _amount(records)}"


def _stated(numbers: Iterable[object]) -> int:
    return sum(number is not None for number in numbers)


def _counted(number: int, kind: str) -> str:
    if kind == "count at scores":
        return f"{number:,} count{'' if number == 1 else 's'} at scores"
    return counted(number, kind)


def _amount(number: float) -> str:
    """A number of records, or their weight, in full."""
    return f"{number:,}" if isinstance(number, int) else _exact(number)


def _exact(value: float) -> str:
    """A number with all the digits that it leaves with."""
    return repr(float(value)).removesuffix(".0")


def preview_text(shown: Preview, permit: Permit, width: int = 80) -> str:
    """Return what would leave, how noisy it would be, and its cost; no number of the data."""
    plan, terms = shown.plan, shown.guarantee
    groups = named([group_words(group) for group in plan.groups])
    paragraphs = [
        f"{shown.silo}: what would leave under “{plan.title}”",
        (
            f"For each of the {len(plan.groups)} groups ({groups}), whether it has records or not: "
            f"{counted(plan.grid.bins, 'whole number')}, the numbers of its records in the bins of "
            "the plan, each with noise of its own."
        ),
        *_outcomes_sent(plan),
        (
            f"Noise: {terms['mechanism']} of scale {number(terms['scale'], 6)} by {terms['library']}. "
            f"A bin is off by {number(shown.deviation)} on average (standard deviation), the count "
            f"of a group by {number(shown.count_deviation)}."
        ),
        (
            f"A group whose noisy count is below {plan.disclosure.minimum_cell} is withheld."
            if plan.disclosure.minimum_cell > 1 and not plan.releases_tables
            else "No group is withheld."
        ),
        f"Cost: {_spending_words(permit)}",
        (
            "The records were read and can be counted. No noise was drawn and nothing was "
            "spent: the numbers themselves are only seen when they are released."
        ),
    ]
    if permit.reading:
        paragraphs.append(f"Read with {reading_words(permit.reading)}")
    blocks = ["\n".join(wrapped(paragraph, width)) for paragraph in paragraphs]
    return "\n\n".join([*blocks, f"plan    {plan.digest}"])


def _outcomes_sent(plan: Plan) -> list[str]:
    """What a noisy message says of outcomes."""
    if plan.outcome is None:
        return []
    positive, negative = plan.outcome.positive, plan.outcome.negative
    words = f"The same of the records whose outcome is {positive}, and of those whose outcome is {negative}"
    return [f"{words}; all of it costs epsilon once."]


def _preview_summary(shown: Preview, permit: Permit) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "silo": shown.silo,
        "plan": shown.plan.digest,
        "kind": "histogram",
        "cells": [
            {"group": json_label(group), "levels": shown.plan.grid.bins}
            for group in shown.plan.groups
        ],
        "guarantee": dict(shown.guarantee),
        "noise_deviation": shown.deviation,
        "count_deviation": shown.count_deviation,
        "dataset": permit.dataset,
        "spent": permit.spent,
    }


def _spending_words(permit: Permit) -> str:
    """The cost of a release, and what the same records have cost so far."""
    cost = mode_of(permit.plan).cost
    epsilon, budget = cost.epsilon or 0.0, cost.budget or 0.0
    words = f"epsilon = {number(epsilon)}; the plan's budget for {permit.dataset_words} is {number(budget)}"
    if permit.ledger is None:
        return f"{words}. No ledger is used, so nothing records what is spent."
    return f"{words}. So far {number(permit.spent)} is spent, by the ledger of this silo."
