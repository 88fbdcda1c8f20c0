"""Random tables, plans and options for the page that sketches, and what Python makes of each."""

import base64
import gzip
import io
import math
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any
from unicodedata import category

import numpy as np

from fedparity.documents.fields import hidden_place
from fedparity.documents.plan import Plan
from fedparity.errors import FedparityError
from fedparity.page.page_plan import page_plan
from fedparity.privacy.disclosure import score_points
from fedparity.silo.sketch import prepare
from fedparity.tables.opening import FileTable

LABELS = (
    *("A", "b c", "naïve", "Ελλάδα", "Москва", "東京", "한국", "עברית", "العربية", "हिन्दी", "ไทย"),
    *(
        "𝒳",
        "👩‍🔬"[0],
        "e\u0301",
        "é",
        "Straße",
        "İzmir",
        "true",
        "0",
        "01",
        "-1",
        'say "hi"',
        "a,b",
        "a;b",
    ),
    *("NA ", " lead", "'", "\\", "\ufb01n", "Ǆ", "ß"),
)
NUMBERS = "repr", "short", "grid", "ties", "wide", "tiny"
RANGES = (
    *(
        (0.0, 1e300),
        (-1e150, 1e150),
        (0.0, 1e-300),
        (-1e-310, 1e-310),
        (0.0, 5e-324),
        (-1.0, -0.0),
    ),
    *(
        (1e9, 1e9 + 1),
        (1e15, 1e15 + 2),
        (-1e12, -1e12 + 0.5),
        (1e22, 1.001e22),
        (0.1, 0.30000000000000004),
    ),
    *((-3.5, 1e6), (0.0, 1e-5), (-123456789.125, 987654321.5)),
)
"""Ranges of scores where floats are sparse, tiny, huge or without a sign."""


@dataclass(frozen=True)
class Case:
    """A file, the plan that it answers, and how it is read."""

    name: str
    data: bytes
    plan: Plan
    options: dict[str, Any] = field(default_factory=dict)

    def for_page(self) -> dict[str, Any]:
        """Return the case as the page takes it, in JSON."""
        return {
            "name": self.name,
            "data": base64.b64encode(self.data).decode("ascii"),
            "plan": page_plan(self.plan),
            "options": self.options,
        }

    def in_python(self, folder) -> dict[str, Any]:
        """Return the message, or the error, that Python gives."""
        path = folder / self.name
        path.write_bytes(self.data)
        asked = {name: value for name, value in self.options.items() if name != "blockBytes"}
        text = {
            key: asked.pop(key)
            for key in ("delimiter", "decimal", "encoding", "na")
            if key in asked
        }
        mapping, silo = asked.pop("map", None), asked.pop("silo")
        try:
            found = prepare(
                FileTable(path, **text), plan=self.plan, silo=silo, mapping=mapping, **asked
            )
        except FedparityError as error:
            return {"error": error.message.replace(str(path), self.name)}
        finally:
            path.unlink()
        rows = found.rows
        return {
            "message": found.sketch.to_bytes().decode(),
            "records": list(found.records.values()),
            "accounting": [rows.read, rows.without_score, rows.records],
            "relabeled": sorted(
                [own.label or "", own.reason, number] for own, number in rows.relabeled.items()
            ),
            "reasons": [list(found.decisions[group].reasons) for group in self.plan.groups],
        }


def random_case(seed: int) -> Case:
    """Return the case of a seed: valid more often than not."""
    rng = np.random.default_rng(seed)
    plan, style = _edge_plan(rng) if rng.random() < 0.3 else _plan(rng)
    rows = int(
        rng.choice(
            [0, 1, 2, 9, 12, 40, 150, 600, 3000],
            p=[0.01, 0.03, 0.04, 0.1, 0.12, 0.2, 0.2, 0.2, 0.1],
        )
    )
    keys, options = _labels(rng, plan, rows)
    high = plan.score_range[1]
    scores = [_number(value, style, rng) for value in _scores(rng, plan, rows, style)]
    if rng.random() < 0.25:
        options["missing"] = "drop"
        scores = ["" if rng.random() < 0.1 else text for text in scores]
    if rng.random() < 0.06 and rows:
        scores[int(rng.integers(rows))] = str(
            rng.choice([f"{high + 1:g}", "inf", "x", "NA", "1,5", "", "nan"])
        )
    if rng.random() < 0.1:
        options["na"] = ["NA", "?"]
        scores = [
            str(rng.choice(["NA", " ? ", text])) if options.get("missing") == "drop" else text
            for text in scores
        ]
    return _file(rng, seed, plan, options, scores=scores, keys=keys)


def _plan(rng):
    style = str(rng.choice(NUMBERS))
    kind = str(rng.choice(["mean", "quantile", "counts"]))
    low = float(rng.choice([0, -1, 1, 0.1, -250]))
    high = low + float(rng.choice([1, 10, 9, 0.4, 1000]))
    high = float(f"{high:.12g}")
    step = None
    if kind == "counts" or style == "grid":
        step = float(f"{(high - low) / int(rng.choice([1, 2, 4, 9, 20, 50])):.12g}")
        style = "grid"
        try:
            return _built(rng, kind, low, high, step), style
        except FedparityError:
            low, high, step = 1.0, 10.0, 1.0
    return _built(rng, kind, low, high, step), style


def _edge_plan(rng):
    """A plan of an unusual range, or of very many groups."""
    kind = str(rng.choice(["mean", "mean", "quantile", "counts"]))
    low, high = RANGES[int(rng.integers(len(RANGES)))]
    step = (high - low) / int(rng.choice([1, 2, 4, 64]))
    try:
        return _built(rng, kind, low, high, step if kind == "counts" else None), "edges"
    except FedparityError:  # the plan refuses so small a step, or so fine a range
        return _built(rng, kind, -1.0, 2.0, 0.375 if kind == "counts" else None), "edges"


@cache
def _letters():
    """All letters that a label may have, of every script."""
    every = map(chr, range(0x21, 0x1FFFF))
    return [c for c in every if category(c)[0] in "LN" and hidden_place(c) is None]


def _word(rng):
    """A label of letters of any script."""
    letters = _letters()
    places = rng.integers(len(letters), size=int(rng.integers(1, 6)))
    return "".join(letters[int(place)] for place in places)


def _built(rng, kind, low, high, step):
    parts = int(rng.choice([1, 1, 1, 2]))
    some = [str(label) for label in rng.permutation(LABELS)]
    if rng.random() < 0.3:
        some[:6] = [_word(rng) for _ in range(6)]
    if rng.random() < 0.04:
        groups: list[Any] = [_word(rng) for _ in range(int(rng.integers(30, 300)))]
    elif parts == 1:
        groups = some[: int(rng.integers(2, 7))]
        if rng.random() < 0.3:
            groups[0] = int(rng.integers(0, 5)) + 100
        if rng.random() < 0.15:
            groups = [True, False, *(group for group in groups[:1] if group != "true")]
        if rng.random() < 0.2:
            groups.append("unknown")
    else:
        groups = [(first, second) for first in some[:2] for second in some[2:4]]
    groups = [
        group for place, group in enumerate(groups) if str(group) not in map(str, groups[:place])
    ]
    inner = np.unique(np.round(rng.uniform(low, high, int(rng.integers(0, 4))), 2))
    if step and rng.random() < 0.5:
        inner = score_points((low, high), step)[[1, -1]]
    rules = [
        {"minimum_cell": 11, "records_per_level": 10},
        {"minimum_cell": 1, "records_per_level": 0},
        {"minimum_cell": 5, "records_per_level": 3},
        {"minimum_cell": int(rng.integers(1, 40)), "records_per_level": int(rng.integers(0, 20))},
    ][int(rng.integers(4))]
    rounding = (
        0.0
        if step is not None and kind == "quantile"
        else rng.choice([0.0, 0.001, 0.005, 0.01, 0.1, 1 / 3 / 10])
    )
    if rng.random() < 0.6 and kind != "counts":
        rules["rounding"] = float(rounding)
    silos = [["aurora", "東京 病院"], None][int(rng.integers(2))]
    return Plan(
        title="Random",
        groups=groups,
        score_range=(low, high),
        score_step=step,
        levels=int(rng.choice([1, 2, 3, 7, 10, 40, 100])),
        sketch=kind,
        thresholds=sorted({float(each) for each in inner if low < each <= high}),
        silos=silos,
        totals={"aurora": 100} if rng.random() < 0.3 else {},
        disclosure=rules,
    )


def _labels(rng, plan, rows):
    """The labels of each row, and how they are read."""
    groups = [group if isinstance(group, tuple) else (group,) for group in plan.groups]
    texts = [tuple(_text(part) for part in group) for group in groups]
    shares = rng.dirichlet(np.ones(len(texts)) * float(rng.choice([0.3, 1, 5])))
    keys = [texts[place] for place in rng.choice(len(texts), rows, p=shares)]
    options: dict[str, Any] = {
        "silo": "aurora",
        "score": "risk",
        "group": [f"g{i}" for i in range(len(groups[0]))],
    }
    if rng.random() < 0.3:
        options["map"] = {
            "alias": texts[0][0],
            **({"": texts[-1][0]} if rng.random() < 0.4 else {}),
        }
        keys = [
            ("alias", *key[1:]) if key[0] == texts[0][0] and rng.random() < 0.5 else key
            for key in keys
        ]
    if rng.random() < 0.25:
        options["other"] = texts[-1][-1]
        odd = ["zz", "Ω", texts[0][0].upper() + "!", "straSSE", "ﬁn", " " + texts[0][0]]
        keys = [
            (*key[:-1], str(rng.choice(odd[:3]))) if rng.random() < 0.1 else key for key in keys
        ]
        if rng.random() < 0.1:
            keys = [
                (*key[:-1], str(rng.choice(odd))) if rng.random() < 0.02 else key for key in keys
            ]
    missing = 0.05 if "unknown" in plan.groups or "" in options.get("map", {}) else 0.0
    if rng.random() < 0.03:
        missing = 0.01
    keys = [("", *key[1:]) if rng.random() < missing else key for key in keys]
    if rng.random() < 0.04:
        keys = [(*key[:-1], "not listed") if rng.random() < 0.02 else key for key in keys]
    return keys, options


def _text(part):
    if isinstance(part, bool):
        return str(part)
    return str(part)


def _edges(rng, plan, rows):
    """Scores at ends, thresholds, points and ties of rounding, and the floats beside them."""
    low, high = plan.score_range
    marks = [low, high, *plan.thresholds, -0.0, 0.0, 5e-324, -5e-324, 1e-310]
    step = plan.rounding * (high - low)
    if step:
        marks += [low + (place + 0.5) * step for place in range(4)]
    if plan.score_step is not None:
        marks = [float(each) for each in plan.score_points[:8]]
    own = [float(rng.choice(marks)) for _ in range(rows)]
    if plan.score_step is None:
        own = [
            math.nextafter(each, float(rng.choice([low, high]))) if rng.random() < 0.2 else each
            for each in own
        ]
        own = [low + rng.random() * (high - low) if rng.random() < 0.3 else each for each in own]
    return np.clip(np.asarray(own, np.float64), low, high)


def _scores(rng, plan, rows, style):
    low, high = plan.score_range
    if style == "edges":
        return _edges(rng, plan, rows)
    if style == "grid":
        points = plan.score_points
        places = np.minimum((rng.beta(2, 3, rows) * points.size).astype(int), points.size - 1)
        if rng.random() < 0.3:  # sums of floats miss the points by a little
            return (low + places * plan.score_step).clip(low, high)
        return points[places]
    if style == "ties":
        return np.round(low + (high - low) * rng.choice(rng.random(5), rows), 3).clip(low, high)
    if style == "tiny":
        return np.clip(
            rng.normal(0, 1, rows) * 10.0 ** rng.integers(-300, -5, rows).astype(float), low, high
        )
    return low + (high - low) * (
        rng.random(rows) if rng.random() < 0.5 else rng.beta(0.5, 3, rows)
    )


def _number(value, style, rng):
    value = float(value)
    if style == "short":
        return f"{value:.3f}"
    if style == "edges" and rng.random() < 0.3:
        return str(
            rng.choice([str(Decimal(value)), f"{value:.17E}", _halfway(value), f"{value:+.20e}"])
        )
    if style == "wide":
        return str(
            rng.choice(
                [
                    repr(value),
                    f"{value:.25f}",
                    f"{value:.18e}",
                    f" {value!r}\t",
                    f"+{value!r}" if value >= 0 else repr(value),
                ]
            )
        )
    return repr(value)


def _halfway(value):
    """The decimal between a number and the next float, which is read as the even one of them."""
    above = math.nextafter(value, math.inf)
    return str((Decimal(value) + Decimal(above)) / 2) if math.isfinite(above) else repr(value)


def _file(rng, seed, plan, options, *, scores, keys):
    low, high = plan.score_range
    scores = [_inside(text, low, high) for text in scores]
    delimiter = str(rng.choice([",", ";", "\t", "|"], p=[0.6, 0.15, 0.15, 0.1]))
    name = f"t{seed}.tsv" if delimiter == "\t" and rng.random() < 0.5 else f"t{seed}.csv"
    if delimiter != "," and not name.endswith(".tsv"):
        options["delimiter"] = "tab" if delimiter == "\t" else delimiter
    if delimiter == ";" and rng.random() < 0.5:
        options["decimal"] = ","
        scores = [text.replace(".", ",") for text in scores]
    names = ["id", *options["group"], "risk", 'no "te"']
    names[0] = str(
        rng.choice(["id", 'no "te"', "", "名前"])
    )  # two columns of one name, if neither is read
    order = [int(place) for place in rng.permutation(len(names))]
    always = rng.random() < 0.2
    end = str(rng.choice(["\n", "\r\n"]))
    out = io.StringIO()
    out.write("\ufeff" if rng.random() < 0.3 else "")
    records = [
        names,
        *(
            [str(i), *key, score, "fine\nwords" if rng.random() < 0.02 else "w"]
            for i, (key, score) in enumerate(zip(keys, scores, strict=True))
        ),
    ]
    lines = [
        delimiter.join(_field(record[place], delimiter, always) for place in order)
        for record in records
    ]
    if rng.random() < 0.1 and len(lines) > 2:
        lines.insert(int(rng.integers(1, len(lines))), "")
    if rng.random() < 0.03 and len(lines) > 2:
        lines.insert(int(rng.integers(1, len(lines))), "only one")
    out.write(end.join(lines) + (end if rng.random() < 0.7 else ""))
    data = out.getvalue()
    encoding = str(rng.choice(["utf-8", "utf-16", "utf-8"], p=[0.8, 0.1, 0.1]))
    if encoding != "utf-8":
        options["encoding"] = encoding
        data = data.removeprefix("\ufeff")
    raw = data.encode(encoding)
    if rng.random() < 0.5:
        options["blockBytes"] = int(rng.choice([3, 10, 64] if len(raw) < 2000 else [500, 4096]))
    if rng.random() < 0.1:
        return Case(f"{name}.gz", gzip.compress(raw, mtime=0), plan, options)
    return Case(name, raw, plan, options)


def parquet_case(seed: int) -> Case:
    """Return the case of a seed in a Parquet file: typed columns, of several writers."""
    import pyarrow as pa  # noqa: PLC0415 -- optional
    import pyarrow.parquet as pq  # noqa: PLC0415

    rng = np.random.default_rng([seed, 1])
    plan, style = _edge_plan(rng) if rng.random() < 0.3 else _plan(rng)
    rows = int(rng.choice([1, 9, 40, 150, 3000]))
    keys, options = _labels(rng, plan, rows)
    scores = np.asarray(_scores(rng, plan, rows, style), np.float64).clip(*plan.score_range)
    empty = rng.random(rows) < (0.1 if rng.random() < 0.3 else 0.0)
    options["missing"] = "drop" if empty.any() and rng.random() < 0.9 else "refuse"
    columns = {"id": pa.array(range(rows)), "risk": pa.array(scores, mask=empty)}
    for place, name in enumerate(options["group"]):
        columns[name] = _typed_labels(rng, pa, [key[place] or None for key in keys])
    out = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        out,
        compression=str(rng.choice(["snappy", "zstd", "gzip", "none"])),
        row_group_size=int(rng.choice([7, 100, 10_000])),
        use_dictionary=bool(rng.random() < 0.6),
        data_page_version=str(rng.choice(["1.0", "2.0"])),
        data_page_size=int(rng.choice([100, 1 << 20])),
    )
    return Case(f"t{seed}.parquet", out.getvalue(), plan, options)


def _typed_labels(rng, pa, texts):
    """Labels as text, as categories, or as the numbers and booleans that their texts are."""
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int16(), pa.string()), pa.binary()]
    if all(
        text is None or (text.lstrip("-").isdecimal() and str(int(text)) == text) for text in texts
    ):
        kinds += [pa.int64(), pa.float64(), pa.int16()]
        texts = [None if text is None else int(text) for text in texts]
    kind = kinds[int(rng.integers(len(kinds)))]
    if not pa.types.is_integer(kind) and not pa.types.is_floating(kind):
        texts = [None if text is None else str(text) for text in texts]
    return (
        pa.array(texts).cast(kind)
        if any(text is not None for text in texts)
        else pa.nulls(len(texts))
    )


def _inside(text, low, high):
    """The text of a number, at an end of the range if its decimals moved it beyond."""
    try:
        value = float(text)
    except ValueError:
        return text
    if text.strip() in ("inf", "nan", f"{high + 1:g}") or low <= value <= high:
        return text
    return repr(min(max(value, low), high))


def _field(text, delimiter, always):
    quote = (
        always
        or any(mark in text for mark in (delimiter, '"', "\n", "\r"))
        or text != text.strip()
    )
    return '"' + text.replace('"', '""') + '"' if quote else text
