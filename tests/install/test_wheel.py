"""What the README says works with the built wheel in a fresh environment, without a network."""

import csv
import doctest
import email
import importlib.util
import json
import os
import random
import re
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="the wheel is built by hatchling")

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
POSIX = pytest.mark.skipif(os.name == "nt", reason="the README is written for a POSIX shell")


def run(*command, folder, **environment):
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(  # noqa: S603 -- our own commands
        [str(word) for word in command],
        cwd=folder,
        env={**kept, "HOME": str(folder), "PYTHONUTF8": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    built = run(
        *(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder), folder=ROOT
    )
    assert built.returncode == 0, built.stderr
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel; its dependencies are those of this one, so none is fetched."""
    place = tmp_path_factory.mktemp("fresh")
    venv.create(place, symlinks=os.name != "nt")
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    own = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=place)
    library = Path(own.stdout.strip())
    with zipfile.ZipFile(wheel) as archive:  # all that an installer does, but for the script
        archive.extractall(library)
    # a path file adds a folder behind the environment's own, and does not read the path files in it:
    # an editable installation of fedparity stays out
    (library / "others.pth").write_text("\n".join(site.getsitepackages()), "utf-8")
    script = scripts / "fedparity"
    script.write_text(f"#!{python}\nfrom fedparity.cli.main import main\nmain()\n", "utf-8")
    script.chmod(0o755)
    where = run(python, "-c", "import fedparity; print(fedparity.__file__)", folder=place)
    assert where.stdout.startswith(str(library)), where
    return scripts, python


def make_table(path):
    """Somebody's own table: a column of hospitals, one of groups, and scores from 0 to 10."""
    draw = random.Random(3)  # noqa: S311 -- not a secret
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("hospital", "sex", "risk"))
        for _ in range(1500):
            sex = draw.choice("FM")
            risk = draw.betavariate(3 if sex == "F" else 2, 4)
            rows.writerow((draw.choice(["Aurora", "Bayside", "Cedar"]), sex, round(10 * risk, 2)))


def commands(language):
    """The commands of the README's blocks of a language, one by one."""
    for block in re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
        yield from block.replace("\\\n", "").splitlines()


@pytest.mark.slow
@POSIX
def test_the_commands_of_the_readme_work_with_the_wheel(installed, tmp_path):
    pytest.importorskip("matplotlib", reason="a page needs the extra report")
    scripts, _ = installed
    make_table(tmp_path / "patients.csv")
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"

    typed = list(commands("sh"))
    for command in typed:
        done = run("/bin/sh", "-c", command, folder=tmp_path, PATH=path)
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"

    assert len(typed) <= 7
    for page in ("report.html", "audit.html"):
        assert "F scores" in (tmp_path / page).read_text("utf-8")


@pytest.mark.slow
def test_the_python_of_the_readme_works_with_the_wheel(installed, tmp_path):
    pytest.importorskip("matplotlib", reason="the figure needs the extra report")
    _, python = installed
    (tmp_path / "README.md").write_text(README, "utf-8")
    code = (
        "import doctest, re, sys\n"
        "text = open('README.md', encoding='utf-8').read()\n"
        "[code] = re.findall(r'^```python\\n(.*?)^```', text, re.M | re.S)\n"
        "test = doctest.DocTestParser().get_doctest(code, {}, 'README', 'README.md', 0)\n"
        "found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)\n"
        "print(found.attempted); sys.exit(found.failed)\n"
    )

    done = run(python, "-c", code, folder=tmp_path, MPLBACKEND="agg")

    assert done.returncode == 0, done.stdout
    assert int(done.stdout) >= 10


@pytest.mark.slow
@POSIX
def test_the_demo_and_the_doctor_work_with_the_wheel(installed, tmp_path):
    scripts, _ = installed

    assert run(scripts / "fedparity", folder=tmp_path).stdout.startswith("Usage: fedparity")
    demo = run(scripts / "fedparity", "demo", "--json", folder=tmp_path)
    assert round(json.loads(demo.stdout)["disparity"]["value"], 3) == 0.431
    found = run(scripts / "fedparity", "doctor", "--json", folder=tmp_path)
    assert (found.returncode, json.loads(found.stdout)["ok"]) == (0, True)


def description(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name)).get_payload()


def test_an_index_shows_no_link_that_leads_nowhere(wheel):
    """No public address of the repository is stated yet, so its links are plain text there."""
    text = description(wheel)

    assert "fedparity plan new plan.toml" in text
    assert all("://" in target for target in LINK.findall(text))


def test_links_lead_below_the_address_that_the_project_states():
    place = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)

    links = LINK.findall(module.linked(README, "https://forge.example/fedparity"))

    assert links
    for link in links:
        kind, _, path = link.removeprefix("https://forge.example/fedparity/").split("/", 2)
        assert kind == ("raw" if path.endswith(".svg") else "blob")
        assert (ROOT / path).is_file(), path
    assert (
        module.linked("[a](b.md) ![c](d.svg) [e](https://f.g)", None) == "a *c* [e](https://f.g)"
    )


def test_the_readme_is_short_and_says_how_to_install():
    assert len(README.split()) < 900
    for words in (
        "pip install fedparity",
        "fedparity[all]",
        "uvx fedparity",
        "make demo",
        "make test",
    ):
        assert words in README
    assert doctest.DocTestParser().get_examples(README)
