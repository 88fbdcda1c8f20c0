"""Every module can be the first to be imported, and names mean the same in any order."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest
from tests.public_names import homes

import fedparity as fp

ROOT = Path(fp.__file__).parent
FILES = {
    ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted(ROOT.rglob("*.py"))
}
PACKAGES = ("documents", "errors", "planning", "plots", "theory", "version")
"""What is there after `import fedparity` alone."""

ORDERS = {
    "names": "for name in names: getattr(fp, name)",
    "names, backwards": "for name in reversed(names): getattr(fp, name)",
    "packages": "for package in packages: load(f'fedparity.{package}')",
    "modules": "for name in reversed(names): load(homes[name])",
    "all by a star": "exec('from fedparity import *')",
    "a module of the same name": "import fedparity.functionals.disparity, fedparity.cli.audit_commands",
}


def at_import(statements):
    """Imports that run when a module is imported: none of functions and of type checkers."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from at_import(statement.orelse)
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        for block in ("body", "handlers", "orelse", "finalbody"):
            yield from at_import(getattr(statement, block, ()))


def imported_by(file):
    """Modules of fedparity that a file needs before it can be imported itself."""
    for statement in at_import(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(statement, ast.Import):
            names = [name.name for name in statement.names]
        else:
            within = [f"{statement.module}.{name.name}" for name in statement.names]
            names = [name if name in FILES else statement.module for name in within]
        yield from (name for name in names if name in FILES)


def test_no_module_needs_itself():
    """So none depends on what was imported before it."""
    graph = {name: set(imported_by(file)) for name, file in FILES.items()}

    order = list(graphlib.TopologicalSorter(graph).static_order())

    assert order.index("fedparity.errors") < order.index("fedparity.functionals.disparity")
    assert order.index("fedparity.laws.law") < order.index("fedparity.auditing.audit")


def test_no_module_takes_public_names():
    """They are for users: within the package, imports say where a name lives."""
    assert [name for name, file in FILES.items() if "fedparity" in imported_by(file)] == []


@pytest.mark.parametrize("first", ORDERS.values(), ids=ORDERS)
def test_public_names_mean_the_same_in_every_order(first):
    code = f"""
from importlib import import_module as load
import fedparity as fp
names, packages = fp.__all__, {(*PACKAGES, "report", "cli", "cli.main")!r}
homes = {dict(homes())!r}
{first}
for name, home in homes.items():
    assert getattr(fp, name) is getattr(load(home), name), name
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 -- our own code


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_there_without_an_import_of_its_own(package):
    code = f"import fedparity; print(fedparity.{package}.__name__)"

    printed = subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    assert printed.strip() == f"fedparity.{package}"
