"""What `import fedparity` offers."""

import importlib
import inspect
import pkgutil

import pytest
from tests.public_names import homes

import fedparity as fp


def test_public_names_are_sorted_and_exist():
    assert sorted(fp.__all__) == fp.__all__
    assert all(hasattr(fp, name) for name in fp.__all__)


def test_nothing_public_is_left_out():
    assert all(hasattr(fp, name) for name in fp.__all__)  # names are imported when they are used
    offered = {
        name
        for name, value in vars(fp).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }

    assert offered == set(fp.__all__) - {"__version__"}


def test_everything_public_says_what_it_is():
    for name in fp.__all__:
        thing = getattr(fp, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name


def test_type_checkers_see_every_public_name_once():
    assert sorted(name for name, _ in homes()) == fp.__all__


def test_python_finds_what_type_checkers_see():
    for name, module in homes():
        assert getattr(fp, name) is getattr(importlib.import_module(module), name), name


def test_no_public_name_is_also_a_module():
    """Importing a module sets it as an attribute of its package: it would hide the name."""
    modules = {module.name for module in pkgutil.iter_modules(fp.__path__)}

    assert "errors" in modules
    assert not modules & set(fp.__all__)


def test_a_star_import_gives_the_public_names():
    given = {}

    exec("from fedparity import *", given)  # noqa: S102 -- a function cannot contain it

    assert set(given) - {"__builtins__"} == set(fp.__all__)


@pytest.mark.parametrize("name", ["dispariti", "__wrapped__", "numpy"])
def test_other_names_are_not_there(name):
    with pytest.raises(AttributeError, match=f"^module 'fedparity' has no attribute '{name}'$"):
        getattr(fp, name)


def test_the_face_is_small_and_the_rest_has_a_place():
    assert len(fp.__all__) <= 24
    for module in (fp.theory, fp.planning, fp.documents, fp.errors, fp.plots):
        assert sorted(module.__all__) == list(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
