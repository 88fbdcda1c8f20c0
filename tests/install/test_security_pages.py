"""What the pages for a security office say of the program is true of it."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fedparity.engines.flower import QUIET
from fedparity.engines.remote.settings import KEYS

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "_build" not in page.parts
]
SECURITY = sorted((ROOT / "docs" / "security").glob("*.md"))
FENCE = re.compile(r"^```(?:\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
STARTS = re.compile(r"(?:^|[;&|(]|\bdo\b)\s*(?:\$ )?(flwr|flower-\w+)\s")
QUIETLY = "fedparity engine flower start "


def commands(text):
    """The commands of a page's blocks, with the lines that a backslash joins."""
    for block in FENCE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()


def test_every_command_of_flower_that_we_give_is_started_quietly():
    """In the pages, and in the texts that the program writes for an app."""
    source = ROOT / "src" / "fedparity"
    texts = [page.read_text("utf-8") for page in PAGES]
    written = [
        "```\n" + (source / place).read_text("utf-8") + "\n```"
        for place in ("engines/flower/app_folder.py", "cli/engine_commands.py")
    ]
    lines = [line for text in (*texts, *written) for line in commands(text)]

    assert sum(QUIETLY in line for line in lines) >= 5
    assert [line for line in lines if STARTS.search(line)] == []


def test_the_test_above_would_find_one():
    assert STARTS.search("$ flwr run audit")
    assert STARTS.search("for silo in a b; do flower-supernode --x; done")
    assert not STARTS.search("fedparity engine flower start flwr run audit")


def test_the_page_names_every_variable_that_keeps_flower_quiet():
    page = (ROOT / "docs" / "security" / "dependencies.md").read_text("utf-8")

    assert dict(re.findall(r"^\| `([A-Z_]+)` \| `(\d)` \|", page, re.MULTILINE)) == QUIET


def test_the_tests_that_the_pages_name_are_there():
    named = {
        name
        for page in SECURITY
        for name in re.findall(r"tests/[\w/]+\.py", page.read_text("utf-8"))
    }

    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_picture_is_plain_and_says_what_it_shows():
    """No script, no address, no font to load; a title and a description; light and dark."""
    text = (ROOT / "docs" / "security" / "data-flow.svg").read_text("utf-8")
    root = ET.fromstring(text)  # noqa: S314 -- our own file

    tags = {each.tag.rpartition("}")[2] for each in root.iter()}
    assert {"title", "desc", "style"} <= tags
    assert not {"script", "image", "foreignObject", "a"} & tags
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_way_to_report_is_linked(page):
    text = (ROOT / page).read_text("utf-8")

    assert "security/index" in text
    assert "Report a vulnerability" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert "@" not in (ROOT / "SECURITY.md").read_text("utf-8")  # no address is known


def test_a_secret_in_the_settings_of_a_silo_is_the_name_of_a_file():
    assert all("file" in KEYS[key] for key in ("url-file", "sign", "passphrase-file"))
