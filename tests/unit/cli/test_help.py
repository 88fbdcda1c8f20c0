"""Every command explains itself in 80 columns, with examples that can be typed."""

import shlex

import click
import pytest
from click.testing import CliRunner

from fedparity.cli.main import LazyGroup, cli


def commands(group=cli, path=()):
    """Every command and group, with the words that call it."""
    yield path, group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            yield from commands(group.get_command(context, name), (*path, name))


ALL = dict(commands())
EXAMPLES = [
    shlex.split(line.partition(" > ")[0])[1:]
    for command in ALL.values()
    for line in command.help.replace("\\\n", " ").splitlines()
    if line.lstrip().startswith("fedparity ")
]


def help_of(path):
    return CliRunner().invoke(cli, [*path, "--help"], prog_name="fedparity").stdout


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_has_examples_and_fits_80_columns(path):
    lines = help_of(path).splitlines()

    assert "  Examples:" in lines
    assert any(line.startswith("    fedparity ") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_starts_with_a_purpose_in_one_line(path):
    after_usage = help_of(path).split("\n\n")[1]

    assert "\n" not in after_usage
    assert len(after_usage) <= 78  # where click wraps on a terminal of 80 columns
    assert after_usage.endswith(".")


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_says_what_it_does(path):
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("example", EXAMPLES, ids=" ".join)
def test_examples_can_be_typed(example, tmp_path, monkeypatch):
    """Names, options and types are read by the command that they call; nothing is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "silo.toml").write_text('silo = "aurora"\n', encoding="utf-8")
    size = max(words for words in range(1, 4) if tuple(example[:words]) in ALL)
    command = ALL[tuple(example[:size])]

    assert command.make_context("example", example[size:]).params


@pytest.mark.parametrize("path", [p for p, c in ALL.items() if isinstance(c, LazyGroup)])
def test_the_list_of_commands_says_what_each_says(path):
    context = click.Context(ALL[path])
    for name, place in ALL[path].places.items():
        command = ALL[path].get_command(context, name)
        assert place.short_help == command.get_short_help_str(80)
        assert f"  {name} " in help_of(path)


def test_an_unknown_command_is_a_usage_error_with_a_fix():
    refused = CliRunner().invoke(cli, ["plann"])

    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1].startswith("fix: ")


GROUPS = [
    path
    for path, command in ALL.items()
    if isinstance(command, click.Group) and not command.invoke_without_command
]


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_a_group_alone_prints_its_help_and_ends_well(path):
    alone = CliRunner().invoke(cli, path, prog_name="fedparity")

    assert (alone.exit_code, alone.stdout, alone.stderr) == (0, help_of(path), "")


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_can_be_quiet(path):
    assert [p.opts for p in ALL[path].params].count(["-q", "--quiet"]) == 1


@pytest.mark.parametrize("words", [("-q", "plan", "new"), ("plan", "new", "--quiet")])
def test_quiet_leaves_out_notes_and_keeps_warnings(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deciles = (
        "--title",
        "Q4",
        "--group",
        "A",
        "--group",
        "B",
        "--range",
        "1",
        "10",
        "--step",
        "1",
    )

    done = CliRunner().invoke(cli, [*words, *deciles, "--sketch", "mean"])

    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith('warning: sketch = "mean" is obeyed')
    assert len(done.stderr.splitlines()) == 1
