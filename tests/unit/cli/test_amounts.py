"""Sizes are read with their units."""

import click
import pytest

from fedparity.cli.options import byte_count

OPTION = click.Option(["--memory"])


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1000", 1000),
        ("500MB", 500_000_000),
        ("2GB", 2_000_000_000),
        ("2 gb", 2_000_000_000),
        ("1.5GiB", 1_610_612_736),
        ("64k", 64_000),
        ("1T", 10**12),
    ],
)
def test_a_size_has_an_optional_unit(text, size):
    assert byte_count(click.Context(click.Command("x")), OPTION, text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "1PB", "1,5GB", "GB"])
def test_anything_else_is_refused(text):
    with pytest.raises(click.BadParameter):
        byte_count(click.Context(click.Command("x")), OPTION, text)
