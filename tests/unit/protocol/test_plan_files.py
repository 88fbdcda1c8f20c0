"""Plans as TOML: every mistake at once with its line, and files written whole."""

import os
import stat

import pytest
from tests.unit.protocol.samples import plan

import fedparity as fp
from fedparity.documents.json_text import key_lines

GOOD = """\
schema = "fedparity/plan/1"
title = "Q4"
groups = ["A", "B"]
score_range = [0, 1]
"""

DESIGN = """\
schema = "fedparity/plan/1"
title = "Readmission risk, 2026 Q4"
groups = ["A", "B"]            # labels, in reporting order
score_range = [0.0, 10.0]      # public, never read from data
score_step = 0.01              # optional: scores lie on this grid
levels = 100                   # k
sketch = "mean"                # or "quantile", "counts"
estimator = "exact"            # or "grid"
thresholds = [5.0]             # optional: exact counts on both sides; equal counts as above
favorable = "below"            # or "above"
order = 2                      # p, 1 or 2
review_level = 0.5             # optional: what the verdict compares with
review_unit = "points"         # "share" of the range, "sd": W_2 of the worst pair; "squared": G_2
silos = ["aurora", "bayside"]  # optional roster: then missing ones are reported
[disclosure]
minimum_cell = 11
records_per_level = 10
rounding = 0.005               # of the score range; the default depends on the sketch; 0 turns it off
[privacy]                      # absent: none
mode = "dp"                    # "dp" | "secure" | "secure+dp"
epsilon = 1.0
[keys]                         # optional: Ed25519 public keys, base64, by silo
aurora = "BQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
"""


def lines_and_keys(text):
    return [(mistake.line, mistake.key) for mistake in fp.documents.check_plan(text)]


def test_every_mistake_is_found_at_once_with_its_line():
    text = """\
schema = "fedparity/plan/2"
groups = [
  "A",
  "A",
]
score_range = [1, 0]
"levels" = '''
12'''
lvels = 3 # levels = 3

order = 3
silos = ["x", "y"]
disclosure = {minimum_cell = 0,
rounding = 7}
[privacy]
mode = "dp"
[ keys ]
"z" = "AAAA"
'y z' = 3
[totals]
w = 5
"""
    found = lines_and_keys(text.replace(",\nrounding", ", rounding"))

    assert found == [
        (None, "title"),
        (1, "schema"),
        (2, "groups"),
        (6, "score_range"),
        (7, "levels"),
        (9, "lvels"),
        (11, "order"),
        (13, "disclosure.minimum_cell"),
        (13, "disclosure.rounding"),
        (15, "privacy.mode"),
        (17, "keys.z"),
        (18, "keys.y z"),
        (20, "totals.w"),
    ]


def test_keys_that_are_at_odds_are_found_with_their_lines():
    text = (
        GOOD
        + """\
score_step = 0.25
sketch = "quantile"
thresholds = [0.5, 2]
[disclosure]
rounding = 0.001
"""
    )

    assert lines_and_keys(text) == [(7, "thresholds"), (9, "disclosure.rounding")]
    assert lines_and_keys(text.replace("0.25", "0.3")) == [(5, "score_step")]
    assert lines_and_keys(GOOD + 'sketch = "counts"\n') == [(5, "sketch")]


def test_a_misspelt_key_gets_the_nearest_name():
    (mistake,) = fp.documents.check_plan(GOOD + "revue_level = 0.1\n")

    assert mistake.message == "'revue_level' is not a key of a plan here."
    assert "write 'review_level' instead" in mistake.fix


def test_reading_lists_every_mistake():
    with pytest.raises(fp.errors.PlanError) as caught:
        fp.Plan.from_toml(GOOD + "levels = 0\norder = 7\n")

    message = str(caught.value)
    assert "2 mistakes" in message
    assert "  line 5: levels must be" in message
    assert "  line 6: order must be 1 or 2, not 7. Fix: set order" in message


def test_one_mistake_is_one_sentence():
    with pytest.raises(fp.errors.PlanError) as caught:
        fp.Plan.from_toml(GOOD + "levels = 0\n")

    assert str(caught.value).startswith("line 5: levels must be a whole number")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GOOD + "levels = \n", 5),
        (GOOD + "levels = 3\nlevels = 4\n", 6),
        (GOOD + 'x = """never closed\n\n', 6),
        (GOOD + "[disclosure\n", 5),
        (GOOD + "just words\n", 5),
        (GOOD + "a.b.c.d.e.f.g = 1\n", 5),
        (GOOD + "x = 1979-99-99\n", 5),
        (GOOD + "x = " + "[" * 9 + "]" * 9, None),
        (GOOD + "x = " + "9" * 5000, None),
        (GOOD + "#" * 5_000_000, None),
    ],
)
def test_what_is_not_toml_is_one_mistake(text, line):
    (mistake,) = fp.documents.check_plan(text)

    assert mistake.line == line
    assert len(str(mistake)) < 300


def test_a_flood_of_mistakes_is_cut():
    text = "\n".join(f"key_{number} = 1" for number in range(20_000))

    assert len(fp.documents.check_plan(text)) <= 110


def test_dotted_keys_and_strings_with_brackets_are_found():
    text = "a.\"b c\".d = \"[[x = 1\"\n# [no]\ne = '''\n[f]\nx = 1'''\n[[g.h]]\ni = {j = [\n1]}\n"

    assert key_lines(text) == {
        ("a", "b c", "d"): 1,
        ("e",): 3,
        ("g", "h"): 6,
        ("g", "h", "i"): 7,
    }


def test_the_design_s_plan_is_valid():
    read = fp.Plan.from_toml(DESIGN)

    assert read.silos == ("aurora", "bayside")
    assert read.score_points.size == 1001
    assert (read.thresholds, read.favorable) == ((5.0,), "below")
    assert (read.review_level, read.review_unit) == (0.5, "points")
    assert read.privacy == fp.documents.PrivacyTerms(mode="dp", epsilon=1, bins=32, budget=1)
    assert read.keys["aurora"].startswith("BQAA")


def test_comments_spaces_and_order_do_not_change_the_digest():
    lines = GOOD.splitlines()

    assert fp.Plan.from_toml("\n\n# x\n".join(reversed(lines))).digest == (
        fp.Plan.from_toml(GOOD).digest
    )


def test_windows_line_ends_and_byte_order_marks_are_read(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())

    assert fp.Plan.read(path) == fp.Plan.from_toml(GOOD)
    assert lines_and_keys((GOOD + "levels = 0\n").replace("\n", "\r\n")) == [(5, "levels")]


def test_a_written_plan_says_what_each_key_means():
    text = plan(silos=["x"], totals={"x": 3}).to_toml()

    assert 'sketch = "quantile"            # "mean", "quantile" or "counts"' in text
    assert "# review_level = 0.05" in text
    assert "# thresholds = [0.5]" in text
    assert "# score_step = 0.01" in text
    assert "[privacy]" not in text
    assert "[totals]                       # public numbers of records by silo\nx = 3\n" in text


def test_long_lists_are_written_one_item_per_line():
    text = plan(silos=[f"silo {number}" for number in range(40)]).to_toml()

    assert max(map(len, text.splitlines())) < 100
    assert '  "silo 39",\n]' in text
    assert len(fp.Plan.from_toml(text).silos) == 40


def test_a_plan_is_written_whole_and_not_over_another(tmp_path):
    path = tmp_path / "plan.toml"
    plan().write(path)

    with pytest.raises(fp.errors.OutputError, match="exists already"):
        plan(title="other").write(path)
    assert fp.Plan.read(path) == plan()
    plan(title="other").write(path, overwrite=True)
    assert fp.Plan.read(path).title == "other"
    assert [file.name for file in tmp_path.iterdir()] == ["plan.toml"]


@pytest.mark.skipif(os.name != "posix", reason="files have no mode on Windows")
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_a_file_has_the_rights_that_the_umask_leaves(tmp_path, umask):
    path = tmp_path / "plan.toml"
    before = os.umask(umask)
    try:
        plan().write(path)
        again = os.umask(umask)
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert again == umask


@pytest.mark.skipif(os.name != "posix", reason="files have no mode on Windows")
def test_a_file_that_is_replaced_does_not_become_readable(tmp_path):
    path = tmp_path / "plan.toml"
    plan().write(path)
    path.chmod(0o600)

    plan(title="other").write(path, overwrite=True)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_plan_that_cannot_be_read_names_its_file(tmp_path):
    latin = tmp_path / "latin.toml"
    latin.write_bytes(GOOD.encode() + 'x = "é"'.encode("latin-1"))
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(GOOD + "levels = 0\n")

    for path in (tmp_path / "nowhere.toml", tmp_path, latin, wrong):
        with pytest.raises(fp.errors.PlanError, match=path.name):
            fp.Plan.read(path)
