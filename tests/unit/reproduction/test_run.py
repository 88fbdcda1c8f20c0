"""What a run needs is asked for before anything is computed or written."""

import sys

import pytest

from fedparity.errors import MissingExtraError, OptionError, TableError
from fedparity.experiments.reproduction.run import reproduce
from fedparity.experiments.reproduction.settings import Settings


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_is_told_at_once(monkeypatch, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtraError, match=r"fedparity\[reproduce\]") as caught:
        reproduce(["synthetic"], out=tmp_path / "out")

    assert package in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_missing_file_of_data_is_told_at_once(tmp_path):
    with pytest.raises(TableError, match=r"adult\.data"):
        reproduce(["synthetic", "adult"], out=tmp_path / "out", data=tmp_path)

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "value"), [("replicates", 1), ("seed", -1), ("draws", True)])
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(OptionError, match=name):
        Settings(**{name: value})


def test_quick_is_smaller_everywhere():
    quick, full = Settings.of(quick=True), Settings.of()

    for name in ("replicates", "draws", "strengths"):
        assert getattr(quick, name) < getattr(full, name)
