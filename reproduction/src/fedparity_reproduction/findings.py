"""What differs from the paper and why: sentences computed from the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fedparity_reproduction.estimators import FloatArray
from fedparity_reproduction.experiments import Part
from fedparity_reproduction.printed import PrintedBlock, printed_blocks, unit_of
from fedparity_reproduction.studies import StudyResult
from fedparity_reproduction.tables import COLUMNS, Row, Table

__all__ = ["claims", "contradictions", "findings", "repeated_block"]


def findings(parts: Sequence[Part], *, with_k95: bool = True) -> list[str]:
    """Return, in plain sentences, all that the parts found to differ from the paper.

    ``with_k95`` is False where there are too few allocations to know k95.
    """
    tables = [table for part in parts for table in part.tables]
    found = _reasons(tables)
    if any(part.name == "compas" for part in parts):
        found += [*repeated_block(printed_blocks()), *contradictions(printed_blocks())]
    found += [_drift(table) for table in tables if table.name.endswith("-regimes")][:1]
    found += [f"{part.title}: {part.terms.sentence}" for part in parts if part.terms][:1]
    found += claims(parts) if with_k95 else []
    found += _numbers(parts)
    return [sentence for sentence in found if sentence]


def _reasons(tables: Iterable[Table]) -> list[str]:
    """Each reason once, with the rows that it explains."""
    places: dict[str, dict[tuple[str, str], list[str]]] = {}
    for table in tables:
        for block, row in table.rows:
            if row.verdict.word == "differs":
                rows = places.setdefault(row.verdict.reason, {})
                rows.setdefault((table.title, block.regime), []).append(row.measure.symbol)
    return [f"{_sentence(reason)}: {_placed(rows)}." for reason, rows in places.items()]


def _placed(rows: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """The rows of each table; regimes that share them together."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (title, regime), symbols in rows.items():
        together.setdefault((title, tuple(symbols)), []).append(regime)
    return "; ".join(
        f"{title}, {', '.join(symbols)} ({', '.join(regimes)})"
        for (title, symbols), regimes in together.items()
    )


def _sentence(reason: str) -> str:
    text = reason.removeprefix("because ")
    return text[:1].upper() + text[1:]


def repeated_block(blocks: Sequence[PrintedBlock]) -> list[str]:
    """Return a sentence if Table 1, introduced as random, repeats the block of another regime."""
    first = next(block for block in blocks if block.label == "tab:compas_random")
    for block in blocks:
        shared = first.rows.keys() & block.rows.keys()
        if block is not first and shared and all(first.rows[m] == block.rows[m] for m in shared):
            return [
                (
                    "Table 1 is introduced as a random allocation, but prints the rows of the "
                    f"{block.regime} regime of {block.label}."
                )
            ]
    return []


def contradictions(blocks: Sequence[PrintedBlock]) -> list[str]:
    """Return a sentence if printed counts, U₂ and W₂ cannot belong to the same records.

    For two groups U₂ is α₀ α₁ W₂² (`rem:two-groups`). Each printed number stands for an interval
    of half a unit around it; where the two sides do not meet, something else was printed.
    """
    found = []
    for block in blocks:
        if not {"n_first", "n_second"} <= block.rows.keys():
            continue
        names = COLUMNS[: len(block.rows["U2"])]
        apart = [name for place, name in enumerate(names) if not _possible(block, place)]
        if apart:
            found.append(
                f"In {block.label} the printed counts, U₂ and W₂ of {_listed(apart)} cannot belong "
                "to the same records: for two groups U₂ = α₀α₁W₂², whatever the rounding."
            )
    return found


def _possible(block: PrintedBlock, place: int) -> bool:
    first, second = (int(block.rows[name][place]) for name in ("n_first", "n_second"))
    product = first * second / (first + second) ** 2
    (u, du), (w, dw) = (
        (float(block.rows[name][place]), unit_of(block.rows[name][place]) / 2)
        for name in ("U2", "W2")
    )
    return product * (w - dw) ** 2 <= u + du and product * (w + dw) ** 2 >= u - du


def _listed(names: Sequence[str]) -> str:
    lowered = [name.lower() for name in names]
    if len(lowered) == 1:
        return lowered[0]
    return f"{', '.join(lowered[:-1])} and {lowered[-1]}"


def _drift(table: Table) -> str:
    """How far counts move between regimes that the text says to share them."""
    counts = {
        block.regime: [row for row in block.rows if row.measure.name.startswith("n_")]
        for block in table.blocks
    }
    if not {"random", "positive"} <= counts.keys():
        return ""
    parts = [
        f"{group} {_span(before)} under random allocation and {_span(after)} under selection"
        for group, before, after in zip(
            table.groups, counts["random"], counts["positive"], strict=True
        )
    ]
    return (
        "The text says that the regimes share the counts of the silos; cut as it is written, the "
        f"copula does not preserve them. {table.title}, mean counts of the five silos: "
        f"{'; '.join(parts)}."
    )


def _span(row: Row) -> str:
    means = [cell.mean for cell in row.cells[1:]]
    return f"{means[0]:.0f} to {means[-1]:.0f}"


def _numbers(parts: Sequence[Part]) -> list[str]:
    """The numbers of the text that differ."""
    return [
        f"The text's {number.symbol} = {number.printed.value} ({part.title}) differs "
        f"{number.verdict.reason}."
        for part in parts
        for number in part.numbers
        if number.verdict.word == "differs"
    ]


def claims(parts: Sequence[Part]) -> list[str]:
    """Return what the studies say of two claims of the text, where they say something else.

    That more silos need larger sketches, and that selection needs larger ones than random
    allocation; both of the paper's own estimator.
    """
    studies = {part.title: part.study for part in parts if part.study}
    silos = {title: said for title, study in studies.items() if (said := _by_silos(study))}
    regimes = {title: said for title, study in studies.items() if (said := _by_regime(study))}
    found = []
    if silos:
        found.append(
            "The text says that more silos need larger sketches; k95 of its estimator, for "
            f"random, positive and negative allocation: {_each_data_set(silos)}."
        )
    if regimes:
        found.append(
            "The text says that selection needs larger sketches; k95 of its estimator is larger "
            f"than under random allocation in {_each_data_set(regimes)}."
        )
    return found


def _each_data_set(said: Mapping[str, str]) -> str:
    return "; ".join(f"{words} ({title})" for title, words in said.items())


def _by_silos(result: StudyResult) -> str:
    """How k95 goes from the fewest to the most silos; nothing if it always grows."""
    silos, needed = result.study.silos, _needed(result)
    few, many = (needed[:, np.argsort(silos)[end]] for end in (0, -1))
    if (many > few).all():
        return ""
    return (
        f"{_listed_needs(result, few)} with {min(silos)} silos and "
        f"{_listed_needs(result, many)} with {max(silos)}"
    )


def _by_regime(result: StudyResult) -> str:
    """In how many cases selection needs more; nothing if in all."""
    if "random" not in result.study.regimes:
        return ""
    random, needed = result.study.regimes.index("random"), _needed(result)
    selected = np.delete(needed, random, axis=0)
    larger = int(np.count_nonzero(selected > needed[random]))
    return "" if larger == selected.size else f"{larger} of {selected.size} cases"


def _needed(result: StudyResult) -> FloatArray:
    """k95 of the paper's estimator by regime and number of silos; infinite beyond the study."""
    found = result.k95()[:, :, 0]
    return np.where(found > 0, found, np.inf)


def _listed_needs(result: StudyResult, values: FloatArray) -> str:
    beyond = f">{max(result.study.levels)}"
    return ", ".join(f"{k:.0f}" if np.isfinite(k) else beyond for k in values.tolist())
