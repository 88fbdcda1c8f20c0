"""The bill of materials names everything that is installed with fedparity, and its licenses."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("packaging", reason="the manual's tools are not installed")


def load():
    place = importlib.util.spec_from_file_location("sbom", ROOT / "docs" / "_ext" / "sbom.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


sbom = load()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAGE = (ROOT / "docs" / "security" / "dependencies.md").read_text("utf-8")


def direct(requirements):
    return {re.split(r"[\[<>=~! ]", each)[0].lower() for each in requirements}


@pytest.mark.parametrize("extras", [(), ("sign",), tuple(sbom.extras_of())])
def test_it_is_a_bill_of_cyclonedx(extras):
    """The fields that CycloneDX 1.6 requires, and every reference leads somewhere."""
    bill = json.loads(json.dumps(sbom.bill(extras)))
    named = [bill["metadata"]["component"], *bill["components"]]
    refs = {each["bom-ref"] for each in named}

    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"]
    )
    assert len(refs) == len(named)
    assert {each["ref"] for each in bill["dependencies"]} == refs
    assert all(set(each["dependsOn"]) <= refs for each in bill["dependencies"])
    for each in named:
        assert each["purl"].endswith(f"/{each['name']}@{each['version']}")
        assert each["purl"].startswith(("pkg:pypi/", "pkg:npm/"))
        assert each["licenses"][0]["license"]["name"]
    assert bill == sbom.bill(extras)


def test_the_core_is_what_the_project_says():
    bill = sbom.bill()
    [own] = [
        each for each in bill["dependencies"] if each["ref"].startswith("pkg:pypi/fedparity@")
    ]

    below = {each.split("/")[1].split("@")[0] for each in own["dependsOn"] if ":pypi/" in each}

    assert below == direct(PROJECT["dependencies"])
    assert (
        len([each for each in bill["components"] if ":pypi/" in each["purl"]]) <= 12
    )  # few enough to vet


def test_code_of_others_in_the_page_is_listed_with_its_license():
    vendor = ROOT / "src" / "fedparity" / "page" / "vendor"
    folders = sorted(each.name for each in vendor.iterdir() if each.is_dir())

    listed = {
        each["name"]: each["licenses"][0]["license"]["name"] for each in sbom.vendored_code()
    }

    assert sorted(listed) == folders
    assert all((vendor / name / "LICENSE").is_file() for name in folders)
    assert all(re.search(rf"`{name}`.*{stated}", PAGE) for name, stated in listed.items())


def test_the_page_names_every_direct_dependency_with_the_licence_it_states():
    extras = PROJECT["optional-dependencies"]
    wanted = direct(PROJECT["dependencies"]).union(*map(direct, extras.values())) - {"fedparity"}
    table = PAGE.split("## Code of others")[0]
    rows = dict(re.findall(r"^\| `([A-Za-z0-9-]+)` \| ([^|]+) \|", table, re.MULTILINE))

    assert {name.lower() for name in rows} == wanted


def test_the_extra_all_is_every_other_one():
    extras = PROJECT["optional-dependencies"]

    [every] = extras["all"]

    assert every == f"fedparity[{','.join(sorted(set(extras) - {'all'}))}]"


def test_no_dependency_has_a_licence_that_binds_its_users_software():
    """No GPL: a hospital's own code may be linked with all of it."""
    bill = sbom.bill(sbom.extras_of())

    strict = [
        each["name"]
        for each in bill["components"]
        if re.search(r"(?<!L)GPL|General Public", each["licenses"][0]["license"]["name"])
        and "Lesser" not in each["licenses"][0]["license"]["name"]
    ]

    assert strict == []
