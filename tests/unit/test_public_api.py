"""What `import fedparity` offers."""

import inspect

import fedparity as fp


def test_public_names_are_sorted_and_exist():
    assert sorted(fp.__all__) == fp.__all__
    assert all(hasattr(fp, name) for name in fp.__all__)


def test_nothing_public_is_left_out():
    offered = {
        name
        for name, value in vars(fp).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }

    assert offered <= set(fp.__all__)


def test_everything_public_says_what_it_is():
    for name in fp.__all__:
        thing = getattr(fp, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
