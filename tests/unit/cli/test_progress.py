"""A bar is drawn for somebody who looks, once the wait is long."""

import io
import re
import sys

import click
import pytest

from fedparity.cli import output as module
from fedparity.cli.output import progress_bar


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Return that it is."""
        return True


def terminal(monkeypatch):
    """Put a terminal in place of the error stream; not as a fixture, which pytest would undo."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_off_a_terminal_there_is_none(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    with progress_bar("rows") as bar:
        assert bar is None


def test_a_long_wait_shows_what_is_done(monkeypatch):
    stream = terminal(monkeypatch)
    monkeypatch.setattr(module, "_PATIENCE", -1)

    with progress_bar("rows") as bar:
        bar(500, 1000, "reading")
        bar(1000, 1000, "reading")
        bar(10, None, "selecting")

    assert "reading" in stream.getvalue()
    assert "1,000 rows" in stream.getvalue()
    assert "selecting" in stream.getvalue()


def test_a_short_wait_shows_nothing(monkeypatch):
    stream = terminal(monkeypatch)
    with progress_bar("rows") as bar:
        bar(1000, 1000, "reading")

    assert stream.getvalue() == ""


@pytest.mark.parametrize("value", [None, "1"])
def test_a_bar_has_no_color_if_the_user_wants_none(value, monkeypatch):
    stream = terminal(monkeypatch)
    monkeypatch.setattr(module, "_PATIENCE", -1)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if value is not None:
        monkeypatch.setenv("NO_COLOR", value)

    with progress_bar("rows") as bar:
        bar(500, 1000, "reading")

    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", stream.getvalue())) is (value is None)


def test_a_quiet_command_shows_none(monkeypatch):
    terminal(monkeypatch)
    context = click.Context(click.Command("any"))
    context.meta["fedparity.quiet"] = True

    with context, progress_bar("rows") as bar:
        assert bar is None
