"""The engine of the page that sketches, in a real browser: the bytes are those of ``fedparity sketch``."""

import gzip
import io
import json
import struct
from decimal import Decimal
from pathlib import Path
from unicodedata import category

import pytest
from tests.page_tables import Case, parquet_case, random_case
from tests.tiers import count

import fedparity.page
from fedparity.documents.fields import is_name
from fedparity.documents.plan import Plan
from fedparity.page.module_inlining import inlined
from fedparity.page.page_plan import page_plan

FOLDER = Path(fedparity.page.__file__).parent
ORIGIN = "https://page.test/"
BATCH = 50
NUMBERS = Path(__file__).parents[2] / "contracts" / "number_cases.json"
RUN = """
async (cases) => {
  const { sketchTable } = await import("/engine/sketch_table.js");
  const answers = [];
  for (const { name, data, plan, options } of cases) {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    try {
      const found = await sketchTable({ plan, options, file: new File([bytes], name) });
      const { read, withoutScore, records, relabeled } = found.accounting;
      answers.push({
        message: new TextDecoder().decode(found.message),
        records: found.records,
        accounting: [read, withoutScore, records],
        relabeled: relabeled.map((own) => [own.label ?? "", own.reason, own.rows]),
        reasons: found.decisions.map((decision) => decision.reasons),
      });
    } catch (error) {
      if (error.name !== "PageError") throw error;
      answers.push({ error: error.message });
    }
  }
  return answers;
}
"""


@pytest.fixture(scope="module")
def engine(browser):
    """A page whose modules are the files of the engine; no network is asked."""
    context = browser.new_context()
    context.route(f"{ORIGIN}**", _serve)
    page = context.new_page()
    page.goto(ORIGIN)
    yield page
    context.close()


def _serve(route):
    path = route.request.url.removeprefix(ORIGIN)
    if not path:
        route.fulfill(body="<!doctype html>", content_type="text/html")
    else:
        route.fulfill(path=FOLDER / path, content_type="text/javascript")


def in_browser(engine, cases):
    """What the page makes of each case."""
    found = []
    for start in range(0, len(cases), BATCH):
        found += engine.evaluate(RUN, [case.for_page() for case in cases[start : start + BATCH]])
    for answer in found:
        answer.get("relabeled", []).sort()
    return found


@pytest.mark.browser
@pytest.mark.sampled
def test_page_and_python_give_equal_bytes(engine, tmp_path):
    """Random tables of every kind, and what is wrong with some of them, in the same words."""
    for first in range(0, count(quick=50, all=200, soak=10_000), BATCH):
        cases = [random_case(seed) for seed in range(first, first + BATCH)]
        expected = [case.in_python(tmp_path) for case in cases]

        assert expected == in_browser(engine, cases), f"seeds from {first}"


PLAN = Plan(
    title="Faults",
    groups=("a", "b"),
    score_range=(0, 10),
    levels=2,
    disclosure={"minimum_cell": 5},
)
ROWS = b"0.5,a\n" * 12
FAULTS = {
    "an open quote": b'z,g\n0.5,"a\n0.5,b\n',
    "two open quotes": b'z,g\n0.5,a"b\n0.4,b"a\n',
    "a row of spaces": b"z,g\n0.5,a\n \n0.6,b\n",
    "too few fields": b"z,g\n0.5,a\n0.5",
    "too many fields": b"z,g\n0.5,a,\n0.5,a\n",
    "a quote alone at the end": b'z,g\n0.5,a\n"',
    "quotes around nothing": b'z,g\n0.5,a\n""\n',
    "bytes that are not UTF-8": b"z,g\n0.5,\xff\n\xfe,a\n,\xff\n",
    "no label": b'z,g\n0.5,""\n0.5,\n',
    "no score": b"z,g\n,a\n0.5,a\nnan,a\n",
    "labels with line ends": b'z,g\n0.5,"a\r\nb"\n0.6,x\n',
    "a label with a zero byte": b"z,g\n0.5,a\x00\n",
    "only a header": b"z,g\n",
    "nothing": b"",
    "spaces only": b" \n ",
    "a header after empty lines": b"\n\nz,g\n0.5,a\n",
    "a column twice": b"z,z,g\n0.5,1,a\n",
    "no such column": b"score,sex\n0.5,a\n",
    "semicolons": b"z;g\n0.5;a\n",
    "UTF-16": "z,g\n0.5,a\n".encode("utf-16"),
    "a header of cp1252": b"z,g,caf\xe9\n0.5,a,x\n",
    "many faults": b"z,g\n"
    + ROWS
    + b"x,a\n1;5,b\n99,a\ninf,b\n-1,c\n,a\n0.5,\n0.5\n0.5,A\n"
    + b"n/a,a\n" * 7,
    "decimal commas": b'z,g\n"0,5",a\n"0,7",b\n',
    "marks": b"z,g\nNA,a\n-,b\n",
    "many labels": b"z,g\n" + b"".join(b"0.5,l%d\n" % (i % 9) for i in range(40)),
    "long names": b"z,g\n0.5," + b"n" * 100 + b"\n",
    "accepted": b'\xef\xbb\xbf"z",g\r\n\r\n0.5,a\r\n' + b'"0.6",b\r\n' * 12 + b"0.5,a\r",
    "a row too wide beside one too short": b"z,g,t\n"
    + ROWS.replace(b"a", b"a,x")
    + b"0.5,a,x,y\n0.5,a\n",
    "a quote in a field of each of two rows": b"z,g,t\n"
    + ROWS.replace(b"a", b"a,x")
    + b'0.5,a,5" x\n0.5,a,7" x\n',
    "text after a quote": b'z,g,t\n0.5,a,"x" y\n0.5,a,x\n',
    "pairs of quotes in a field": b"z,g,t\n" + b'0.5,a,5" by 3"\n' * 12,
    "a return inside": b"z,g,t\n" + b"0.5,a,x\ry\n" * 12,
}


@pytest.mark.browser
def test_faults_of_a_file_are_said_in_pythons_words(engine, tmp_path):
    """All kinds in one error, with lines, and never a value of a record."""
    options = {"silo": "s", "score": "z", "group": "g"}
    cases = [Case("faults.csv", data, PLAN, options) for data in FAULTS.values()]

    assert {name: case.in_python(tmp_path) for name, case in zip(FAULTS, cases, strict=True)} == (
        dict(zip(FAULTS, in_browser(engine, cases), strict=True))
    )


@pytest.mark.browser
def test_page_reads_numbers_as_python_does(engine):
    """The cases of the grammar, which Python's own readers are tested with too."""
    cases = json.loads(NUMBERS.read_text("utf-8"))["decimal"]
    read = """
    async ([texts, decimal]) => {
      const { NumberReader } = await import("/engine/number_fields.js");
      const reader = new NumberReader({ decimal, na: ["NA"] });
      return texts.map((text) => {
        const bytes = new TextEncoder().encode(text);
        const value = reader.read(bytes, 0, bytes.length);
        if (reader.kind === 1) return ["others", null];
        if (reader.kind === 2 || Number.isNaN(value)) return ["missing", null];
        if (!Number.isFinite(value)) return ["infinite", null];
        return ["numbers", Array.from(new Uint8Array(new Float64Array([value]).buffer))];
      });
    }
    """
    for decimal, kinds in cases.items():
        for kind, texts in kinds.items():
            expected = [
                [kind, _bytes(text.replace(decimal, ".")) if kind == "numbers" else None]
                for text in texts
            ]

            assert expected == engine.evaluate(read, [texts, decimal])


def _bytes(text):
    return list(struct.pack("<d", float(text)))


@pytest.mark.browser
def test_labels_that_differ_by_case_are_found_as_python_finds_them(engine):
    """Every character folds alike, up to which of two cases stands for both."""
    assigned = [c for c in map(chr, range(0x21, 0x1FFFF)) if category(c) not in ("Cn", "Cs", "Co")]
    texts = [c for c in assigned if c.strip() and category(c)[0] in "LMNS"]
    fold = """
    async (texts) => {
      const { foldedLabel } = await import("/engine/group_labels.js");
      return texts.map(foldedLabel);
    }
    """
    pairs = set(
        zip((text.casefold() for text in texts), engine.evaluate(fold, texts), strict=True)
    )

    assert len(pairs) == len({ours for ours, _ in pairs})
    assert len(pairs) == len({theirs for _, theirs in pairs})


@pytest.mark.browser
def test_plans_that_the_page_cannot_answer_are_declined_with_the_command(engine):
    """Noise, secure sums, axes and outcomes: the page names the command."""
    plans = [
        Plan(
            title="Noise",
            groups=("a", "b"),
            score_range=(0, 1),
            privacy={"mode": "dp", "epsilon": 1.0},
        ),
        Plan(title="Axes", axes={"sex": ["F", "M"], "age": ["y", "o"]}, score_range=(0, 1)),
        Plan(
            title="Outcome",
            groups=("a", "b"),
            score_range=(0, 1),
            outcome={"positive": "1", "negative": "0"},
        ),
    ]
    options = {"silo": "s", "score": "z", "group": "g"}
    answers = in_browser(engine, [Case("t.csv", b"z,g\n0.5,a\n", plan, options) for plan in plans])

    assert [answer["error"] for answer in answers] == [
        "the page cannot answer this plan: it asks for noise or secure sums ([privacy]).",
        "the page cannot answer this plan: it has axes.",
        "the page cannot answer this plan: it asks for an outcome.",
    ]


@pytest.mark.browser
@pytest.mark.sampled
def test_parquet_gives_the_bytes_that_python_gives(engine, tmp_path):
    """Every compression, version of pages, and type of label; missing scores and labels."""
    pytest.importorskip("pyarrow")
    cases = [parquet_case(seed) for seed in range(count(quick=15, all=60, soak=1_000))]
    expected = [case.in_python(tmp_path) for case in cases]

    assert expected == in_browser(engine, cases)


TYPES = {
    "decimals": ("decimal128(9, 2)", [f"{n}.{n:02}" for n in range(30)]),
    "negative decimals": ("decimal128(15, 6)", [f"-{n}.00000{n % 10}" for n in range(30)]),
    "single floats": ("float32", [n / 7 for n in range(30)]),
    "half floats": ("float16", [n / 8 for n in range(30)]),
    "whole numbers": ("int64", range(30)),
    "small ones": ("uint8", range(30)),
    "large ones": ("uint64", range(30)),
    "booleans": ("bool_", [n % 2 == 0 for n in range(30)]),
    "text": ("string", [f"{n}" for n in range(30)]),
    "days": ("date32", range(30)),
}
LABELS = {
    "floats": ("float64", [0.5, 1e-7, 3.0, -0.0, None], ["0.5", "1e-07", 3, 0, "unknown"]),
    "single floats": (
        "float32",
        [0.1, 2.0, 1e-9],
        ["0.10000000149011612", 2, "9.999999717180685e-10"],
    ),
    "booleans": ("bool_", [True, False, None], [True, False, "missing"]),
    "decimals": ("decimal128(5, 1)", ["1.5", "2.0"], ["1.5", 2]),
    "bytes": ("binary", [b"\xc3\xa9", b"x"], ["é", "x"]),
    "large whole numbers": ("int64", [2**60 + 1, 7], [str(2**60 + 1), 7]),
    "days": ("date32", [1, 2], ["a", "b"]),
    "bytes that are no text": ("binary", [b"\xff", b"x"], ["é", "x"]),
}


@pytest.mark.browser
def test_types_of_parquet_are_read_as_python_reads_them(engine, tmp_path):
    """Scores and labels that are not floats and text: the same bytes, or refused by both."""
    pa = pytest.importorskip("pyarrow")
    cases = {}
    for name, (kind, values) in TYPES.items():
        scores = _column(pa, kind, list(values))
        plan = Plan(title="Types", groups=("a", "b"), score_range=(-50, 50), sketch="quantile")
        cases[f"scores: {name}"] = _typed_case(pa, plan, scores, pa.array(["a", "b", "a"] * 10))
    for name, (kind, labels, groups) in LABELS.items():
        plan = Plan(title="Types", groups=groups, score_range=(0, 1), levels=3)
        column = _column(pa, kind, labels * 20)
        scores = pa.array([place / 200 for place in range(len(column))])
        cases[f"labels: {name}"] = _typed_case(pa, plan, scores, column)
    expected = [_without_error(case.in_python(tmp_path)) for case in cases.values()]
    found = [_without_error(answer) for answer in in_browser(engine, list(cases.values()))]

    assert dict(zip(cases, expected, strict=True)) == dict(zip(cases, found, strict=True))


def _column(pa, kind, values):
    name, _, rest = kind.partition("(")
    made = getattr(pa, name)(*(int(part) for part in rest.rstrip(")").split(",") if part))
    if name == "decimal128":
        return pa.array([Decimal(value) for value in values], made)
    return (
        pa.array(values).cast(made) if name in ("float16", "float32") else pa.array(values, made)
    )


def _typed_case(pa, plan, scores, labels):
    import pyarrow.parquet as pq  # noqa: PLC0415 -- optional

    out = io.BytesIO()
    pq.write_table(pa.table({"z": scores, "g": labels}), out)
    return Case("typed.parquet", out.getvalue(), plan, {"silo": "s", "score": "z", "group": "g"})


def _without_error(answer):
    """Both refuse the same types; the name of a type is Arrow's here and Parquet's there."""
    error = answer.get("error")
    return answer if error is None else {"error": error.partition(" but their type is ")[0]}


@pytest.mark.browser
def test_what_is_damaged_or_compressed_otherwise_is_refused(engine):
    """Never a message of a part of a table."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"z": [0.5] * 40, "g": ["a", "b"] * 20})
    whole, brotli = io.BytesIO(), io.BytesIO()
    pq.write_table(table, whole)
    pq.write_table(table, brotli, compression="brotli")
    packed = gzip.compress(b"z,g\n" + b"0.5,a\n" * 4000)
    options = {"silo": "s", "score": "z", "group": "g"}
    files = {
        "cut.parquet": whole.getvalue()[:-20],
        "zeros.parquet": bytes(64) + whole.getvalue()[64:],
        "brotli.parquet": brotli.getvalue(),
        "cut.csv.gz": packed[:-12],
        "plain.csv.gz": b"z,g\n0.5,a\n",
        "book.xlsx": b"PK",
    }
    answers = in_browser(engine, [Case(name, data, PLAN, options) for name, data in files.items()])

    assert [answer["error"] for answer in answers] == [
        "'cut.parquet' is not a whole Parquet file: it is truncated or damaged.",
        "'zeros.parquet' is not a whole Parquet file: it is truncated or damaged.",
        "the page does not read the compression BROTLI of 'brotli.parquet'.",
        "'cut.csv.gz' is not a whole compressed file: it is truncated or damaged.",
        "'plain.csv.gz' is not a whole compressed file: it is truncated or damaged.",
        "the page does not read the format of 'book.xlsx'.",
    ]


@pytest.mark.browser
def test_columns_and_labels_are_offered_before_anything_is_computed(engine):
    """Counts of rows by column and by label, and the group that each label counts as."""
    script = """
    async ([plan, data, options]) => {
      const { readHeader, readLabels } = await import("/engine/sketch_table.js");
      const file = new File([data], "t.csv");
      return [await readHeader({ file, options }), await readLabels({ plan, file, options })];
    }
    """
    plan = Plan(title="Labels", groups=("female", "male", "unknown"), score_range=(0, 1))
    data = "risk,sex\n0.5,female\n,F\nx,male\n0.1,\n0.2,female\n0.3,W\n"
    options = {"group": ["sex"], "map": {"F": "female"}}
    header, labels = engine.evaluate(script, [page_plan(plan), data, options])

    assert header == {
        "format": "CSV",
        "columns": [
            {"name": "risk", "rows": 6, "numbers": 4, "empty": 1},
            {"name": "sex", "rows": 6, "numbers": 0, "empty": 1},
        ],
    }
    assert [(own["label"], own["rows"], own["group"], own["reason"]) for own in labels] == [
        ("female", 2, "female", None),
        (None, 1, "unknown", "missing"),
        ("F", 1, "female", "map"),
        ("W", 1, None, None),
        ("male", 1, "male", None),
    ]


@pytest.mark.browser
def test_modules_as_one_script_give_the_same(engine, tmp_path):
    """What ``fedparity page`` puts into its file, without any import."""
    pytest.importorskip("pyarrow")
    cases = [case(seed) for seed in range(8) for case in (random_case, parquet_case)]
    script = inlined(FOLDER / "engine" / "sketch_table.js", FOLDER)
    module = 'await import("/engine/sketch_table.js")'
    assert module in RUN
    answers = engine.evaluate(
        f"async (cases) => {{ {script}\nreturn ({RUN.replace(module, '$engine_sketch_table')})(cases); }}",
        [case.for_page() for case in cases],
    )
    for answer in answers:
        answer.get("relabeled", []).sort()

    assert [case.in_python(tmp_path) for case in cases] == answers


@pytest.mark.browser
def test_names_with_hidden_characters_are_refused_as_in_python(engine):
    """Every character between two letters, but half ones."""
    ranges = (0, 0xD800), (0xE000, 0x20000), (0xDFF00, 0xE1100)
    check = """
    async (ranges) => {
      const { isName } = await import("/engine/page_errors.js");
      const refused = [];
      for (const [first, end] of ranges) {
        for (let code = first; code < end; code += 1) if (!isName(`a${String.fromCodePoint(code)}b`)) refused.push(code);
      }
      return refused;
    }
    """
    every = [code for first, end in ranges for code in range(first, end)]

    assert [code for code in every if not is_name(f"a{chr(code)}b")] == engine.evaluate(
        check, [[first, end] for first, end in ranges]
    )


@pytest.mark.browser
def test_progress_ends_with_the_file(engine):
    """Bytes are those of the file, compressed or in another encoding as it is, and never go back."""
    script = """
    async ([plan, cases]) => {
      const { sketchTable } = await import("/engine/sketch_table.js");
      const heard = [];
      for (const { name, data, options } of cases) {
        const shares = [];
        const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
        const onProgress = ({ phase, bytes, totalBytes }) => phase === "reading" && shares.push(bytes / totalBytes);
        await sketchTable({ plan, options, file: new File([bytes], name), onProgress });
        heard.push(shares);
      }
      return heard;
    }
    """
    text = "z,g\n" + "0.5,a\n0.25,b\n" * 3000
    options = {"silo": "s", "score": "z", "group": "g", "blockBytes": 10_000}
    cases = [
        Case("t.csv", text.encode(), PLAN, options),
        Case("t.csv.gz", gzip.compress(text.encode()), PLAN, options),
        Case("t.csv", text.encode("utf-16"), PLAN, {**options, "encoding": "utf-16"}),
    ]
    heard = engine.evaluate(script, [page_plan(PLAN), [case.for_page() for case in cases]])

    for shares in heard:
        assert len(shares) >= 4
        assert sorted(shares) == shares
        assert shares[-1] == 1
