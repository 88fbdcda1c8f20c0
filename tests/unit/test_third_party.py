"""Which warnings decide a test: ours do, those of a package at its import never."""

import importlib
import importlib.util
import inspect
import sys
import warnings
from importlib.machinery import SourceFileLoader

import numpy as np
import pytest

PACKAGES = {
    "its own line": "import warnings; warnings.warn('a library is old', DeprecationWarning)",
    "the line that imports it": "import warnings; warnings.warn('old', UserWarning, stacklevel=2)",
    "no line of code": 'WORD = "\\d"',
    "what it imports": "import warns_inside",
}
INSIDE = "import warnings; warnings.warn('soon', FutureWarning, stacklevel=3)"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that makes a package of others from its code, and names it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def made(code, name="warns_at_import"):
        (tmp_path / f"{name}.py").write_text(f"{code}\nREADY = True\n", encoding="utf-8")
        return name

    yield made
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("code", PACKAGES.values(), ids=PACKAGES.keys())
def test_a_warning_at_import_is_not_heard(code, package):
    """Whatever it is attributed to: the package, whoever imports it, or the text of its code."""
    package(INSIDE, "warns_inside")

    assert importlib.import_module(package(code)).READY


def test_an_imported_module_is_as_it_would_be(package):
    """Its loader is the usual one, and its source can be found."""
    module = importlib.import_module(package("def two(): return 2"))

    assert module.__loader__ is module.__spec__.loader
    assert type(module.__loader__) is SourceFileLoader
    assert inspect.getsource(module.two) == "def two(): return 2\n"
    assert importlib.util.find_spec(package("x = 1", "not_yet_imported")).loader.get_source


def test_an_import_that_fails_still_fails(package):
    with pytest.raises(ZeroDivisionError):
        importlib.import_module(package("1 / 0"))


def test_a_warning_of_ours_is_an_error():
    with pytest.raises(FutureWarning, match="ours"):
        warnings.warn("ours", FutureWarning, stacklevel=1)


def test_a_deprecated_call_of_ours_is_an_error_and_one_of_others_is_not(package):
    """It is attributed to who makes the call."""
    others = importlib.import_module(
        package(
            "import warnings\n"
            "def old(level=2): warnings.warn('old', DeprecationWarning, stacklevel=level)\n"
            "def uses_old(): old()\n"
        )
    )
    others.uses_old()

    with pytest.raises(DeprecationWarning, match="old"):
        others.old()


def test_a_number_that_overflows_is_an_error():
    with pytest.raises(RuntimeWarning, match="overflow"):
        np.square(np.float64(1e200))
