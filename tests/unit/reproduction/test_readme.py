"""The README shows the table that the command made."""

from pathlib import Path

from tests.unit.reproduction.samples import study

from fedparity.experiments.reproduction.k95 import k95_markdown

ROOT = Path(__file__).parents[3]
TABLE = (ROOT / "docs" / "reference" / "k95-table.md").read_text(encoding="utf-8")


def test_the_readme_has_the_table_of_a_full_run():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert readme.partition("<!-- k95 -->\n")[2].partition("<!-- /k95 -->")[0] == TABLE


def test_the_table_is_of_the_form_that_the_command_writes():
    made = k95_markdown(dict.fromkeys(("COMPAS", "Adult", "Law"), study()))

    def frame(text):
        return [line.split("|")[:2] for line in text.splitlines()]

    assert frame(TABLE) == frame(made)
    assert TABLE.splitlines()[:2] == made.splitlines()[:2]
