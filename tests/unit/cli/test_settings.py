"""Settings of a silo in a file: written, read, outvoted by the command line, and refused."""

import json
import tomllib

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fedparity.cli.main import cli
from fedparity.cli.settings_file import KEYS, settings_toml

PLAN = """schema = "fedparity/plan/1"
title = "Q4"
groups = ["A", "B"]
score_range = [0.0, 1.0]
"""


@pytest.fixture
def silo(tmp_path, monkeypatch):
    """A folder with a plan and a table; returns what runs a command in it."""
    monkeypatch.chdir(tmp_path)
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "tables").mkdir()
    rows = "".join(f"0,{i % 10};{'ab'[i % 2]};{2025 + i % 2}\n" for i in range(80))
    (tmp_path / "tables" / "q4.csv").write_text(f"risk;sex;year\n{rows}", encoding="utf-8")

    def run(*arguments):
        done = CliRunner().invoke(cli, [*map(str, arguments)])
        return done.exit_code, done.stdout, done.stderr

    return run


OPTIONS = (
    *("tables/q4.csv", "--silo", "aurora", "--score", "risk", "--group", "sex"),
    *("--delimiter", ";", "--decimal", ",", "--na", "NA", "--map", "a=A", "--map", "b=B"),
)


def test_the_next_release_is_one_command(silo, tmp_path):
    code, first, _ = silo(
        "sketch", "plan.toml", *OPTIONS, "--dry-run", "--json", "--save-settings", "s/silo.toml"
    )
    assert code == 2  # there is no such folder
    (tmp_path / "s").mkdir()

    code, first, said = silo(
        "sketch", "plan.toml", *OPTIONS, "--dry-run", "--json", "--save-settings", "s/silo.toml"
    )
    again = silo("sketch", "plan.toml", "--settings", "s/silo.toml", "--dry-run", "--json")

    assert code == 0
    assert "wrote s/silo.toml" in said
    assert again[:2] == (0, first)
    kept = tomllib.loads((tmp_path / "s" / "silo.toml").read_text(encoding="utf-8"))
    assert kept["data"] == "../tables/q4.csv"
    assert kept["map"] == {"a": "A", "b": "B"}


def test_the_command_line_wins(silo):
    silo("sketch", "plan.toml", *OPTIONS, "--dry-run", "--save-settings", "silo.toml")
    kept = ("sketch", "plan.toml", "--settings", "silo.toml", "--dry-run")

    code, shown, _ = silo(*kept, "--where", "year = 2026")
    assert code == 0
    assert "left out by the filter" in shown
    other = silo(*kept, "--silo", "bayside", "--json")[1]
    assert json.loads(other)["silo"] == "bayside"
    assert "no file or folder 'none.csv'" in silo(*kept, "none.csv")[2]


def test_a_table_on_the_command_line_replaces_a_database(silo, tmp_path):
    (tmp_path / "silo.toml").write_text(
        'silo = "aurora"\nurl-file = "clinic.url"\ntable = "visits"\nscore = "risk"\ngroup = "sex"\n'
        'delimiter = ";"\ndecimal = ","\nmap = {a = "A", b = "B"}\n',
        encoding="utf-8",
    )

    code, shown, said = silo(
        "sketch", "plan.toml", "tables/q4.csv", "--settings", "silo.toml", "--dry-run"
    )

    assert (code, said) == (0, "")
    assert "rows read  80" in shown


REFUSED = {
    "a key that is misspelled": ('grup = "sex"', "line 1: 'grup' is not a setting", "'group'"),
    "a number": ("silo = 3", "silo must be a text", ""),
    "a map that is none": ('map = "a=A"', "map must be a table", ""),
    "a flag that is none": ('in-period = "yes"', "true or false", ""),
    "a list of numbers": ("group = [1]", "a text or a list of texts", ""),
    "no TOML": ("silo = ", "line 1", ""),
    "a password": ('data = "postgresql://u:pw@h/d"', "holds a password", "url-file"),
}


@pytest.mark.parametrize(("text", "words", "fix"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_setting_is_refused(text, words, fix, silo, tmp_path):
    (tmp_path / "silo.toml").write_text(f"{text}\n", encoding="utf-8")

    code, _, said = silo("sketch", "plan.toml", "--settings", "silo.toml")

    assert code == 3
    assert words in said
    assert fix in said
    assert "pw@" not in said


def test_an_existing_file_is_not_replaced(silo, tmp_path):
    (tmp_path / "silo.toml").write_text("mine", encoding="utf-8")

    code, _, said = silo(
        "sketch", "plan.toml", *OPTIONS, "--dry-run", "--save-settings", "silo.toml"
    )

    assert code != 0
    assert "silo.toml" in said
    assert (tmp_path / "silo.toml").read_text(encoding="utf-8") == "mine"


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("silo", "score", "where", "query", "delimiter"), texts),
            "group": st.lists(texts, min_size=1).map(tuple),
            "in_period": st.just(True),
            "threads": st.integers(1, 64),
        },
    )
)
def test_what_is_written_is_read_again(values):
    """Whatever the texts hold: quotes, backslashes, line ends, characters that cannot be seen."""
    document = tomllib.loads(settings_toml(values, None))

    expected = {key: values[name] for key, name in KEYS.items() if name in values}
    assert document == {k: list(v) if isinstance(v, tuple) else v for k, v in expected.items()}
