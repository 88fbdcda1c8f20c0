"""A policy is read strictly: every key is known, every value is what it may be, every mistake has a fix."""

import pytest

import fedparity as fp
from fedparity.documents.policy_file import policy_from_toml, read_policy
from fedparity.privacy.policy import RULES, Policy
from fedparity.silo.permit import default_policy_path, find_policy

HEAD = 'schema = "fedparity/policy/1"\n'
KEY = f"{'A' * 42}w="
ALL = f"""{HEAD}
modes = ["none", "dp"]
overrides = false
other_grids = true
without_ledger = true
page = false
[floors]
minimum_cell = 20
records_per_level = 15
rounding_mean = 0.01
rounding_quantile = 0.002
levels = 50
thresholds = 2
[epsilon]
release = 0.5
year = 1
[ledger]
file = "ledger.jsonl"
must_exist = true
[datasets]
visits = ["visits/*.csv", "postgresql://db/clinic#visits"]
[auditors]
authority = "{KEY}"
[silos]
bayside = "{KEY}"
[secure]
without_keys = true
unknown_silos = true
[approval]
people = ["Ada Berg", "Ben Cole"]
needed = 2
"""


def test_every_key_is_read(tmp_path):
    policy = policy_from_toml(ALL, tmp_path / "policy.toml")

    assert policy == Policy(
        minimum_cell=20,
        records_per_level=15,
        rounding={"mean": 0.01, "quantile": 0.002},
        levels=50,
        thresholds=2,
        modes=("none", "dp"),
        epsilon_per_release=0.5,
        epsilon_per_year=1,
        datasets={"visits": (f"{tmp_path}/visits/*.csv", "postgresql://db/clinic#visits")},
        auditors={"authority": KEY},
        silos={"bayside": KEY},
        without_keys=True,
        unknown_silos=True,
        people=("Ada Berg", "Ben Cole"),
        needed=2,
        overrides=False,
        other_grids=True,
        without_ledger=True,
        page=False,
        ledger=tmp_path / "ledger.jsonl",
        must_exist=True,
        path=tmp_path / "policy.toml",
    )


def test_what_is_not_said_is_the_default_but_a_ledger_is_kept():
    assert policy_from_toml(HEAD) == Policy(without_ledger=False)


WRONG = {
    "no schema": ("modes = []", "no line schema"),
    "another schema": ('schema = "fedparity/policy/2"', "no line schema"),
    "not TOML": (f"{HEAD}modes =", "line 2: this is not TOML"),
    "an unknown key": (f"{HEAD}mode = 3", "line 2: 'mode' is not a key"),
    "an unknown table": (f"{HEAD}[rules]\nminimum_cell = 1", "'rules' is not a key"),
    "an unknown key of a table": (f"{HEAD}[floors]\nrounding = 0.1", "line 3: 'rounding' is not"),
    "a table that is none": (f"{HEAD}floors = 3", "line 2: floors must be a table"),
    "a mode too many": (f'{HEAD}modes = ["open"]', "line 2: modes must be"),
    "no mode": (f"{HEAD}modes = []", "modes must be"),
    "a number for a flag": (f"{HEAD}overrides = 1", "true or false"),
    "a cell of none": (f"{HEAD}[floors]\nminimum_cell = 0", "at least 1, not 0"),
    "a flag for a number": (f"{HEAD}[floors]\nlevels = true", "whole number"),
    "a rounding too large": (f"{HEAD}[floors]\nrounding_mean = 1", "share from 0 to 0.1"),
    "an endless loss": (f"{HEAD}[epsilon]\nrelease = inf", "above 0"),
    "no loss": (f"{HEAD}[epsilon]\nyear = nan", "above 0"),
    "a key that is none": (
        f'{HEAD}[auditors]\na = "key"',
        "line 3: auditors.a must be a public key",
    ),
    "a name that hides": (f'{HEAD}[silos]\n"a\\u202eb" = "{KEY}"', "must be a public key"),
    "a pattern that is no list": (f'{HEAD}[datasets]\nvisits = "a.csv"', "a list of paths"),
    "more than two": (f'{HEAD}[approval]\npeople = ["a"]\nneeded = 3', "1 or 2"),
    "nobody to approve": (f"{HEAD}[approval]\nneeded = 1", "needs 1 people, and names 0"),
    "one person twice": (f'{HEAD}[approval]\npeople = ["a", "a"]', "different names"),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_refused_with_its_line_and_a_fix(text, words, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text)

    with pytest.raises(fp.errors.PolicyError) as caught:
        read_policy(path)

    assert words in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.fix


def test_the_policy_is_the_one_named_that_of_the_user_or_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find_policy() == Policy()

    own = tmp_path / "fedparity" / "policy.toml"
    own.parent.mkdir()
    own.write_text(f"{HEAD}[floors]\nlevels = 1\n")
    assert default_policy_path() == own
    assert find_policy().levels == 1

    named = tmp_path / "named.toml"
    named.write_text(f"{HEAD}[floors]\nlevels = 2\n")
    monkeypatch.setenv("FEDPARITY_POLICY", str(named))
    assert find_policy().levels == 2
    assert find_policy(own).levels == 1
    assert find_policy(Policy(levels=3)).levels == 3

    monkeypatch.setenv("FEDPARITY_POLICY", str(tmp_path / "nowhere.toml"))
    with pytest.raises(fp.errors.PolicyError, match="cannot be read"):
        find_policy()


DATASETS = Policy(
    datasets={
        "visits": ("/data/visits/*.csv", "postgresql://db/clinic#visits"),
        "lab": ("/data/lab.csv", "sqlite:////data/lab.db"),
    }
)


@pytest.mark.parametrize(
    ("tables", "named", "expected"),
    [
        (("/data/visits/a.csv", "/data/visits/b.csv"), None, "visits"),
        (("/data/lab.csv",), None, "lab"),
        (("/data/lab.csv",), "lab", "lab"),
        (("postgresql://db/clinic#visits",), None, "visits"),
        (("sqlite:////data/lab.db#anything",), None, "lab"),
        ((), "lab", "lab"),
        (("/tmp/copy.csv",), "visits", "visits"),  # noqa: S108
        (("/data/lab.csv",), "visits", None),
        (("/data/lab.csv", "/data/visits/a.csv"), None, None),
        (("/data/lab.csv", "/data/visits/a.csv"), "lab", None),
        (("/tmp/copy.csv",), None, None),  # noqa: S108
        (("postgresql://db/clinic#query",), None, None),
        ((), None, None),
        (("/data/lab.csv",), "unknown", None),
    ],
)
def test_only_the_policy_says_which_data_set_a_table_is(tables, named, expected):
    if expected is not None:
        assert DATASETS.dataset_of(tables, named) == expected
        return
    with pytest.raises(fp.errors.RuleError):
        DATASETS.dataset_of(tables, named)


def test_without_data_sets_nobody_names_one():
    assert Policy().dataset_of(("/data/lab.csv",), None) is None
    with pytest.raises(fp.errors.RuleError, match="only the silo's policy names data sets"):
        Policy().dataset_of(("/data/lab.csv",), "visits")


def test_where_overrides_are_forbidden_no_name_helps():
    weak = fp.Plan(
        title="Q4", groups=("A", "B"), score_range=(0, 1), disclosure={"minimum_cell": 2}
    ).to_dict()

    assert Policy().check(weak, ["minimum_cell"]) == ("minimum_cell",)
    with pytest.raises(fp.errors.RuleError) as caught:
        Policy(overrides=False).check(weak, RULES)
    assert "allows no override" in caught.value.fix
