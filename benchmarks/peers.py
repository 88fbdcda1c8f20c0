"""Fairlearn, AIF360, Aequitas and NVFlare's statistics beside fedparity: the same data, the same quantities, both ways.

The peers need versions of their own, so they live in an environment of their own::

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install fairlearn aif360 aequitas nvflare 'fastdigest<0.6' click rich narwhals
    PYTHONPATH=src /tmp/peers/bin/python benchmarks/peers.py --write docs/explanation/peers-table.md

Without ``--write`` the tables are printed. The run fails where two packages that measure the same quantity disagree, or
where a peer lacks a name that the last table looks for. A peer that is not installed is left out, and named. DataSHIELD is
written in R and needs a server: its column comes from its documentation.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from timing import best_times

import fedparity as fp
from fedparity.documents import SketchedCell

PEERS: Final = "fairlearn", "aif360", "aequitas", "nvflare"
TITLES: Final = {
    "pooled": "pooled records",
    "fedparity": "fedparity",
    "fairlearn": "Fairlearn",
    "aif360": "AIF360",
    "aequitas": "Aequitas",
    "nvflare": "NVFlare statistics",
    "datashield": "DataSHIELD",
}
THRESHOLD: Final = 5.0
LARGE: Final = 50_000
STATED: Final = "as documented: "
"""What a package says of itself and was not run here."""
MIDPOINTS: Final = [(level + 0.5) / 100 for level in range(100)]
Values: TypeAlias = dict[str, float]

QUANTITIES: Final = {
    # what is measured -> how far two packages may be apart, and why
    "rate of A": 1e-12,
    "rate of B": 1e-12,
    "ratio of the rates": 1e-12,
    "mean of A": 5e-3,  # fedparity's means are rounded to 0.005 of the range before they leave
    "mean of B": 5e-3,
    "W₂ between A and B": 3e-2,  # every federated value is an approximation
}

ABILITIES: Final[dict[str, dict[str, str]]] = {
    # Each cell names what does it: imported here for Python packages, else it says no.
    "rates by group at a threshold": {
        "fedparity": "fedparity.at_threshold",
        "fairlearn": "fairlearn.metrics.selection_rate",
        "aif360": "aif360.metrics.BinaryLabelDatasetMetric.base_rate",
        "aequitas": "aequitas.group.Group.get_crosstabs",
        "nvflare": "nvflare.app_opt.statistics.df.df_core_statistics.DFStatisticsCore.histogram",
        "datashield": STATED + "`ds.table`",
    },
    "distance between whole score distributions": {
        "fedparity": "fedparity.wasserstein",
        "aif360": "aif360.metrics.ot_metric.ot_distance",
    },
    "records stay in their silos": {
        "fedparity": "fedparity.audit",
        "nvflare": "nvflare.app_common.statistics.numeric_stats.get_global_stats",
        "datashield": STATED + "yes",
    },
    "intervals of the measures": {
        "fedparity": "fedparity.assess",
        "fairlearn": "fairlearn.metrics.MetricFrame.by_group_ci",
    },
    "significance tests": {
        "fedparity": "fedparity.theory.DisparityAssessment",
        "aequitas": "aequitas.bias.Bias.get_disparity_predefined_groups",
        "datashield": STATED + "`ds.glm` and others",
    },
    "bounds that hold whatever is missing": {"fedparity": "fedparity.theory.certify"},
    "selection and within-silo parts": {"fedparity": "fedparity.theory.attribute"},
    "how many records are enough, beforehand": {"fedparity": "fedparity.plan_size"},
    "small groups are withheld at the silo": {
        "fedparity": "fedparity.privacy.disclosure",
        "nvflare": "nvflare.app_common.statistics.min_count_cleanser.MinCountCleanser",
        "datashield": STATED + "nfilter settings",
    },
    "a ledger against differencing": {"fedparity": "fedparity.privacy.ledger.Ledger"},
    "differential privacy": {
        "fedparity": "fedparity.documents.PrivacyTerms",
        "nvflare": "nvflare.app_common.filters.svt_privacy.SVTPrivacy",
    },
    "report for a board": {
        "fedparity": "fedparity.AuditResult.save_report",
        "aequitas": "aequitas.audit.Audit.summary_plot",
    },
    "error rates by group, equalized odds": {
        "fedparity": "fedparity.plots.ROCDisplay",
        "fairlearn": "fairlearn.metrics.equalized_odds_difference",
        "aif360": "aif360.metrics.ClassificationMetric.equalized_odds_difference",
        "aequitas": "aequitas.group.Group.get_crosstabs",
    },
    "any metric of your own by group": {"fairlearn": "fairlearn.metrics.MetricFrame"},
    "individual fairness": {"aif360": "aif360.metrics.BinaryLabelDatasetMetric.consistency"},
    "changing a model or its data": {
        "fairlearn": "fairlearn.reductions.ExponentiatedGradient",
        "aif360": "aif360.algorithms.preprocessing.Reweighing",
        "aequitas": STATED + "extra `[flow]`",
    },
    "training over silos": {
        "nvflare": "nvflare.app_common.workflows.fedavg.FedAvg",
        "datashield": STATED + "`ds.glm` and others",
    },
    "statistics of any column over silos": {
        "nvflare": "nvflare.app_common.statistics.numeric_stats.get_global_stats",
        "datashield": STATED + "`ds.mean`, `ds.histogram` and others",
    },
    "interactive analysis by the researcher": {"datashield": STATED + "yes"},
}


class Records:
    """Made-up hospitals with scores, groups and outcomes; group B is treated where scores are high."""

    def __init__(self, size: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.silos = random.choice(5, size, p=[0.21, 0.19, 0.2, 0.19, 0.21])
        is_b = random.random(size) < 0.15 + 0.17 * self.silos
        self.groups = np.where(is_b, "B", "A")
        self.scores = np.round(10 * random.beta(2 + 0.8 * self.silos, 4), 4)
        self.outcomes = (random.random(size) < self.scores / 10).astype(int)
        self.favored = (self.scores < THRESHOLD).astype(int)

    def of(self, group: str, silo: int | None = None) -> npt.NDArray[np.float64]:
        """Return the scores of a group, in all silos or in one."""
        chosen = self.groups == group
        kept = chosen if silo is None else chosen & (self.silos == silo)
        return np.asarray(self.scores[kept], dtype=np.float64)

    def table(self, silo: int) -> dict[str, object]:
        """Return the table of one silo."""
        own = self.silos == silo
        return {"score": self.scores[own], "group": self.groups[own]}


def pooled(records: Records) -> Values:
    """Return the quantities of all records in one place: what everything is compared with."""
    rates = {group: float(np.mean(records.of(group) < THRESHOLD)) for group in "AB"}
    return {
        **_rates(rates["A"], rates["B"]),
        "mean of A": float(records.of("A").mean()),
        "mean of B": float(records.of("B").mean()),
        "W₂ between A and B": fp.wasserstein(
            fp.Law.from_scores(records.of("A")), fp.Law.from_scores(records.of("B"))
        ),
    }


def fedparity(records: Records) -> Values:
    """Return them from the messages of five silos, under the default rules of disclosure."""
    found = audited(records)
    rates = {row.group: row.rate.value for row in found.thresholds[0].groups}
    means = {row.group: row.mean for row in found.groups}
    return {
        **_rates(rates["A"], rates["B"]),
        "mean of A": means["A"],
        "mean of B": means["B"],
        "W₂ between A and B": found.pairs[0].wasserstein,
    }


def plan() -> fp.Plan:
    """Return the question to the silos."""
    return fp.Plan(
        title="peers",
        groups=("A", "B"),
        score_range=(0.0, 10.0),
        thresholds=(THRESHOLD,),
        favorable="below",
    )


def messages(records: Records) -> list[fp.SiloSketch]:
    """Return what the silos send."""
    return [
        fp.sketch(
            records.table(silo),
            plan=plan(),
            silo=f"s{silo}",
            score="score",
            group="group",
            ledger=False,
        )
        for silo in range(5)
    ]


def audited(records: Records) -> fp.AuditResult:
    """Return the audit of five silos."""
    return fp.audit(plan(), messages(records))


def fairlearn(records: Records) -> Values:
    """Return Fairlearn's rates and means, of pooled records."""
    metrics = importlib.import_module("fairlearn.metrics")
    frame = metrics.MetricFrame(
        metrics=metrics.selection_rate,
        y_true=records.outcomes,
        y_pred=records.favored,
        sensitive_features=records.groups,
    )
    means = metrics.MetricFrame(
        metrics=metrics.mean_prediction,
        y_true=records.outcomes,
        y_pred=records.scores,
        sensitive_features=records.groups,
    ).by_group
    found = {group: float(frame.by_group[group]) for group in "AB"}
    return {
        **_rates(found["A"], found["B"]),
        "ratio of the rates": float(frame.ratio()),
        "mean of A": float(means["A"]),
        "mean of B": float(means["B"]),
    }


def aif360(records: Records) -> Values:
    """Return AIF360's rates and disparate impact, of pooled records."""
    pandas = importlib.import_module("pandas")
    datasets = importlib.import_module("aif360.datasets")
    metrics = importlib.import_module("aif360.metrics")
    frame = pandas.DataFrame({"b": (records.groups == "B").astype(int), "y": records.favored})
    table = datasets.BinaryLabelDataset(
        df=frame, label_names=["y"], protected_attribute_names=["b"]
    )
    metric = metrics.BinaryLabelDatasetMetric(
        table, unprivileged_groups=[{"b": 1}], privileged_groups=[{"b": 0}]
    )
    return {
        **_rates(
            float(metric.base_rate(privileged=True)), float(metric.base_rate(privileged=False))
        ),
        "ratio of the rates": float(metric.disparate_impact()),
    }


def aequitas(records: Records) -> Values:
    """Return Aequitas' predicted prevalences and their ratio, of pooled records."""
    pandas = importlib.import_module("pandas")
    frame = pandas.DataFrame(
        {"score": records.favored, "label_value": records.outcomes, "group": records.groups}
    )
    crossed, _ = (
        importlib.import_module("aequitas.group").Group().get_crosstabs(frame, attr_cols=["group"])
    )
    compared = (
        importlib.import_module("aequitas.bias")
        .Bias()
        .get_disparity_predefined_groups(
            crossed, original_df=frame, ref_groups_dict={"group": "A"}, mask_significance=True
        )
        .set_index("attribute_value")
    )
    return {
        **_rates(float(compared.loc["A", "pprev"]), float(compared.loc["B", "pprev"])),
        "ratio of the rates": float(compared.loc["B", "pprev_disparity"]),
    }


def nvflare(records: Records) -> Values:
    """Return NVFlare's global means, and W₂ from its global quantiles: its own silo and server code, in one process."""
    found = nvflare_global([nvflare_silo(records, silo) for silo in range(5)])
    means = {group: found["mean"][group]["score"] for group in "AB"}
    rates = {}
    for group in "AB":  # two bins of equal width on 0 to 10 meet at the threshold
        below, above = (each.sample_count for each in found["histogram"][group]["score"].bins)
        rates[group] = below / (below + above)
    quantiles = {
        group: np.array([found["quantile"][group]["score"][level] for level in MIDPOINTS])
        for group in "AB"
    }
    gap = quantiles["A"] - quantiles["B"]
    return {
        **_rates(rates["A"], rates["B"]),
        "mean of A": means["A"],
        "mean of B": means["B"],
        "W₂ between A and B": float(np.sqrt(np.mean(gap**2))),
    }


def nvflare_silo(records: Records, silo: int) -> dict[str, Any]:
    """Return what one client computes: each group is a data set with one feature."""
    pandas = importlib.import_module("pandas")
    core = importlib.import_module("nvflare.app_opt.statistics.df.df_core_statistics")
    statistics = core.DFStatisticsCore()
    statistics.data = {
        group: pandas.DataFrame({"score": records.of(group, silo)}) for group in "AB"
    }
    return {
        "count": {g: {"score": statistics.count(g, "score")} for g in "AB"},
        "sum": {g: {"score": statistics.sum(g, "score")} for g in "AB"},
        "mean": {g: {"score": statistics.mean(g, "score")} for g in "AB"},
        "quantile": {g: {"score": statistics.quantiles(g, "score", MIDPOINTS)} for g in "AB"},
        "histogram": {g: {"score": statistics.histogram(g, "score", 2, 0.0, 10.0)} for g in "AB"},
    }


def nvflare_global(clients: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the server makes of it, in its two rounds."""
    stats = importlib.import_module("nvflare.app_common.statistics.numeric_stats")
    constants = importlib.import_module("nvflare.app_common.app_constant").StatisticsConstants
    by_name = {
        name: {f"s{i}": client[name] for i, client in enumerate(clients)} for name in clients[0]
    }
    config = {"quantile": {"*": MIDPOINTS}}
    found: dict[str, Any] = {}
    for task in constants.STATS_1st_STATISTICS, constants.STATS_2nd_STATISTICS:
        found = stats.get_global_stats(found, by_name, task, config)
    return found


def averaged_quantiles(records: Records) -> float:
    """Return W₂ from silos' quantiles averaged by their counts, as the source of DataSHIELD's ds.quantileMean does it."""
    combined = {}
    for group in "AB":
        cells = [records.of(group, silo) for silo in range(5)]
        values = [np.quantile(cell, MIDPOINTS) for cell in cells]
        combined[group] = np.average(values, axis=0, weights=[len(cell) for cell in cells])
    return float(np.sqrt(np.mean((combined["A"] - combined["B"]) ** 2)))


def _rates(a: float, b: float) -> Values:
    return {"rate of A": a, "rate of B": b, "ratio of the rates": b / a}


# -- the tables --------------------------------------------------------------------------------


def quantities(records: Records, names: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return the table of numbers, and a sentence for each disagreement."""
    measures: dict[str, Callable[[Records], Values]] = {
        "pooled": pooled,
        "fedparity": fedparity,
        "fairlearn": fairlearn,
        "aif360": aif360,
        "aequitas": aequitas,
        "nvflare": nvflare,
    }
    found = {name: measures[name](records) for name in names}
    faults = [
        f"{TITLES[name]}: {quantity} is {found[name][quantity]!r}, of the pooled records {found['pooled'][quantity]!r}"
        for quantity, tolerance in QUANTITIES.items()
        for name in names
        if quantity in found[name]
        if abs(found[name][quantity] - found["pooled"][quantity]) > tolerance
    ]
    rows = [
        [quantity, *(_number(found[name].get(quantity)) for name in names)]
        for quantity in QUANTITIES
    ]
    return rows, faults


def times(names: Iterable[str]) -> list[list[str]]:
    """Return how long peers take for a piece of work, as a multiple of fedparity's time for it."""
    large = Records(LARGE)

    def rates() -> object:
        sketches = fp.Federation.from_scores(
            large.scores, groups=large.groups, silos=large.silos, levels=100
        )
        return fp.at_threshold(sketches, THRESHOLD, score_range=(0, 10))

    def selected(**bootstrap: Any) -> Any:  # noqa: ANN401 -- Fairlearn's options and frame
        metrics = importlib.import_module("fairlearn.metrics")
        return metrics.MetricFrame(
            metrics=metrics.selection_rate,
            y_true=large.outcomes,
            y_pred=large.favored,
            sensitive_features=large.groups,
            **bootstrap,
        )

    def bootstrapped() -> object:
        return selected(n_boot=100, ci_quantiles=[0.025, 0.975]).by_group_ci

    whole = f"rates of two groups, {LARGE:,} records"
    tasks: list[tuple[str, str, Callable[[], object], Callable[[], object]]] = [
        (whole, "fairlearn", selected, rates),
        (whole, "aif360", lambda: aif360(large), rates),
        (whole, "aequitas", lambda: aequitas(large), rates),
        (whole + ", with 95 % intervals", "fairlearn", bootstrapped, rates),
        (
            f"what five silos compute, {LARGE:,} records",
            "nvflare",
            lambda: [nvflare_silo(large, silo) for silo in range(5)],
            lambda: messages(large),
        ),
    ]
    rows = []
    for task, peer, theirs, ours in tasks:
        if peer in names:
            best = best_times({"theirs": theirs, "ours": ours}, rounds=2)
            rows.append(
                [task, TITLES[peer], f"{_two_digits(best['theirs'] / best['ours'])} times"]
            )
    return rows


def abilities(names: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return who can do what, by the name that was imported, and the names that were not found."""
    rows, lost = [], []
    for ability, cells in ABILITIES.items():
        row = [ability]
        for name in names:
            named = cells.get(name, "")
            if not named:
                row.append("no")
            elif named.startswith(STATED):
                row.append(f"{named.removeprefix(STATED)} ¹")
            elif exists(named):
                row.append(f"`{named.removeprefix(name + '.')}`")
            else:
                row.append("no")
                lost += [named] if name != "fedparity" else []
        rows.append(row)
    return rows, lost


def exists(dotted: str) -> bool:
    """Whether a dotted name can be imported."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        return all((found := getattr(found, part, None)) is not None for part in parts[cut:])
    return False


def released(records: Records) -> list[list[str]]:
    """Return how many numbers leave the first silo, and whether the lowest score of a person is among them."""
    lowest = [records.of(group, 0).min() for group in "AB"]
    cells = [each for each in messages(records)[0].cells if isinstance(each, SketchedCell)]
    values = [[] if cell.values is None else list(cell.values) for cell in cells]
    # a count, a mean square, the values and the counts at the threshold
    counted = sum(2 + len(each) + 1 for each in values)
    rows = [
        ["Fairlearn, AIF360, Aequitas", f"{int(2 * np.sum(records.silos == 0)):,}", "yes"],
        ["fedparity, default rules", f"{counted:,}", _is_among(lowest, values)],
    ]
    if installed("nvflare"):
        sent = nvflare_silo(records, 0)["quantile"]
        digests = [sent[group]["score"]["digest_coord"]["centroids"] for group in "AB"]
        means = [[centroid["m"] for centroid in digest] for digest in digests]
        numbers = 2 * sum(map(len, means))
        rows.append(["NVFlare, digests for quantiles", f"{numbers:,}", _is_among(lowest, means)])
    return rows


def _is_among(lowest: Sequence[float], sent: Sequence[Sequence[float]]) -> str:
    return "yes" if any(one in many for one, many in zip(lowest, sent, strict=True)) else "no"


def installed(name: str) -> bool:
    """Whether a package is installed here."""
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _two_digits(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.{0 if ratio >= 10 else 2 if ratio < 1 else 1}f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    lines = [head, [{"l": "---", "r": "--:"}[each] for each in align.ljust(len(head), align[-1])]]
    return "\n".join("| " + " | ".join(row) + " |" for row in [*lines, *rows]) + "\n"


def main() -> int:
    """Compare, print or write the tables, and fail where the same quantity differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="file for the tables, instead of printing them")
    target: Path | None = parser.parse_args().write
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")  # peers warn of packages for algorithms that are not used here
    present = [name for name in PEERS if installed(name)]
    for name in set(PEERS) - set(present):
        print(f"{TITLES[name]} is not installed: left out", file=sys.stderr)
    names = ["pooled", "fedparity", *present]
    records = Records(10_600)
    numbers, faults = quantities(records, names)
    can, lost = abilities([*names[1:], "datashield"])
    versions = ", ".join(f"{TITLES[name]} {version(name)}" for name in present)
    parts = [
        f"Versions: fedparity {fp.__version__}, {versions}, NumPy {np.__version__}.\n",
        "**The same quantities of the same 10,600 records**\n",
        _table(["quantity", *(TITLES[name] for name in names)], numbers, "lr"),
        f"Silos' quantiles averaged by their counts would give W₂ = {averaged_quantiles(records):.6f}.\n",
        "**What leaves the first silo**\n",
        _table(
            ["package", "numbers", "the lowest score of a person is among them"],
            released(records),
            "lrl",
        ),
        "**Time, as a multiple of fedparity's**\n",
        _table(["work", "package", "takes"], times(present), "llr"),
        "**Who can do what, and by which name**\n",
        _table(["what", *(TITLES[name] for name in [*names[1:], "datashield"])], can, "l"),
    ]
    text = "\n".join(parts)
    if target is None:
        print(text)
    else:
        target.write_text(text, encoding="utf-8")
    for each in lost:
        print(f"not found: {each}", file=sys.stderr)
    for each in faults:
        print(f"disagreement: {each}", file=sys.stderr)
    return 1 if faults or lost else 0


if __name__ == "__main__":
    sys.exit(main())
