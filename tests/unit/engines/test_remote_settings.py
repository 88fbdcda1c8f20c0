"""A silo's settings: every key, what is refused, and that a plan is approved before data are read."""

import os

import pytest
from tests.engine_harness import some_plan, some_tables, write_csv

import fedparity as fp
from fedparity.engines.remote.remote_silo import answer
from fedparity.engines.remote.requests import Request
from fedparity.engines.remote.settings import KEYS, SiloSettings, flat_settings, reading_of
from fedparity.silo.sketch import prepare
from fedparity.tables.databases import DatabaseTable
from fedparity.tables.table import PAIRED

DIGEST = "sha256:" + 64 * "0"


def given(**changes):
    """Settings as a node's configuration holds them; ``_`` stands for a hyphen."""
    settings = {"silo": "aurora", "plan": DIGEST, "data": "a.csv"} | changes
    return {key.replace("_", "-"): value for key, value in settings.items() if value is not None}


def test_settings_say_what_is_read():
    settings = SiloSettings.from_mapping(
        given(
            score="risk",
            group="sex, age",
            outcome="ill",
            weight="w",
            where="age > 3",
            missing="drop",
            other="rest",
            **{"map.f": "female", "map.": "unknown", "axis.sex": "gender"},
        )
    )

    assert settings.reading == {
        "score": "risk",
        "group": ("sex", "age"),
        "axes": {"sex": "gender"},
        "outcome": "ill",
        "weight": "w",
        "where": "age > 3",
        "mapping": {"f": "female", "": "unknown"},
        "missing": "drop",
        "other": "rest",
    }


def test_what_is_not_set_is_as_in_sketch():
    settings = SiloSettings.from_mapping(given())

    assert set(settings.reading.values()) == {None, "refuse"}
    assert (settings.key, settings.again) == (None, False)
    chosen = {
        key: value
        for key, value in settings.permit_options.items()
        if key not in ("policy", "ledger")
    }
    assert not any(chosen.values())
    assert settings.data == "a.csv"


def test_settings_say_where_things_are_kept(tmp_path):
    settings = SiloSettings.from_mapping(
        given(
            ledger=str(tmp_path / "l.jsonl"),
            folder=str(tmp_path / "f"),
            dataset="visits",
            sign="k",
            again=True,
        )
    )

    assert settings.permit_options["ledger"] == tmp_path / "l.jsonl"
    assert settings.folder == tmp_path / "f"
    assert (settings.permit_options["dataset"], settings.key, settings.again) == (
        "visits",
        "k",
        True,
    )


def test_without_a_ledger_that_of_the_user_counts_and_what_left_is_beside_it(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "mine.jsonl"))

    settings = SiloSettings.from_mapping(given())

    assert settings.permit_options["ledger"] == tmp_path / "mine.jsonl"
    assert settings.folder == tmp_path / "outbox"


def test_a_table_is_read_as_the_command_line_reads_it(tmp_path):
    """Semicolons, decimal commas, marks of missing values, Latin-1, axes and an outcome."""
    path = tmp_path / "visits.csv"
    rows = "".join(
        f"0,{i % 10};{'ÄB'[i % 2]};{['jung', 'alt'][i % 3 // 2]};{i % 4 // 2}\n"
        for i in range(400)
    )
    path.write_bytes(f"Risiko;Gruppe;Alter;tot\nk. A.;B;alt;1\n{rows}".encode("latin-1"))
    plan = fp.Plan(
        title="Q4",
        axes={"group": ["Ä", "B"], "age": ["jung", "alt"]},
        outcome={"positive": "1", "negative": "0"},
        score_range=(0, 1),
    )
    written = {"delimiter": ";", "decimal": ",", "encoding": "latin-1", "na": "NA, k. A."}
    columns = {"score": "Risiko", "axis.group": "Gruppe", "axis.age": "Alter", "outcome": "tot"}

    settings = SiloSettings.from_mapping(given(data=str(path), missing="drop") | written | columns)
    release = prepare(settings.data, plan=plan, silo="aurora", **settings.reading)

    assert release.sketch.rows_dropped == 1
    assert release.rows.read == 401
    assert settings.records(plan).groups == plan.record_labels


def test_every_key_is_known_and_has_a_meaning(tmp_path, lenient_law):
    """A key that is listed and refused, or ignored, would be one of the two lists too many."""
    (tmp_path / "address").write_text("sqlite:///a.db")
    (tmp_path / "address").chmod(0o600)
    values = dict.fromkeys(KEYS, "x") | {"plan": DIGEST, "missing": "drop", "again": True}
    values |= {"data": "a.xlsx", "decimal": ".", "encoding": "utf-8", "delimiter": ","}
    values = {f"{key}.x" if key in PAIRED else key: value for key, value in values.items()}
    values |= {"in-period": True, "policy": str(lenient_law)}
    values |= {"url-file": str(tmp_path / "address")}
    for left_out in ({"data", "query"}, {"data", "table"}, {"url-file", "table", "query"}):
        SiloSettings.from_mapping({key: values[key] for key in values if key not in left_out})

    assert all(KEYS.values())


@pytest.mark.parametrize(
    ("key", "near"),
    [("Silo", "silo"), ("scores", "score"), ("url_file", "url-file"), ("grop", "group")],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(key, near):
    with pytest.raises(fp.errors.SettingsError, match="is not a setting") as caught:
        SiloSettings.from_mapping(given() | {key: "x"})

    assert f"write {near!r} instead" in caught.value.fix


def test_an_unknown_key_like_no_other_is_refused_with_all_of_them():
    with pytest.raises(fp.errors.SettingsError) as caught:
        SiloSettings.from_mapping(given() | {"qqqq": "x"})

    assert all(key in caught.value.fix for key in KEYS)


WRONG = {
    "no silo": (given(silo=None), "'silo'"),
    "an empty silo": (given(silo=""), "'silo'"),
    "a number for a silo": (given(silo=3), "'silo' must be a text"),
    "no plan": (given(plan=None), "which plan was approved"),
    "an empty plan": (given(plan=""), "which plan was approved"),
    "a plan that is not there": (given(plan="none.toml"), "plan in the settings"),
    "no data": (given(data=None), "'data'"),
    "data and an address": (given(url_file="a"), "'data'"),
    "an address that is not there": (given(data=None, url_file="no-such-file"), "no such file"),
    "a table of a file": (given(table="visits"), "'table'"),
    "a query of a file": (given(query="SELECT 1"), "'table'"),
    "a database without a table": (given(data="sqlite:///a.db"), "table"),
    "a database with both": (given(data="sqlite:///a.db", table="a", query="SELECT 1"), "table"),
    "a password": (given(data="postgresql://ann:hunter2@db/x", table="a"), "password"),
    "another way with missing": (given(missing="ignore"), "refuse or drop"),
    "again as text": (given(again="true"), "'again' must be true or false"),
    "again as a number": (given(again=1), "'again' must be true or false"),
    "a number for a column": (given(score=1), "'score' must be a text"),
    "a number for a label": (given(**{"map.f": 1}), "'map.f' must be a text"),
}


@pytest.mark.parametrize(("settings", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_settings_are_refused_as_settings(settings, said):
    """Not as a mistake of the auditor or of the data: the operator has to correct them."""
    with pytest.raises(fp.errors.SettingsError) as caught:
        SiloSettings.from_mapping(settings)

    assert said in caught.value.message
    assert "hunter2" not in str(caught.value)


def test_a_plan_may_be_named_by_its_file_or_its_digest(tmp_path):
    plan = some_plan()
    plan.write(tmp_path / "plan.toml")

    by_file = SiloSettings.from_mapping(given(plan=str(tmp_path / "plan.toml")))
    by_digest = SiloSettings.from_mapping(given(plan=plan.digest))

    assert by_file.approved == by_digest.approved == plan.digest


def test_an_address_may_be_in_a_file_of_its_own(tmp_path):
    file = tmp_path / "address"
    file.write_text("postgresql://ann:hunter2@db.example/clinic\n")
    file.chmod(0o600)

    settings = SiloSettings.from_mapping(given(data=None, url_file=str(file), table="visits"))

    assert settings.data == DatabaseTable(
        "postgresql://ann:hunter2@db.example/clinic", table="visits"
    )
    assert "hunter2" not in repr(settings)


@pytest.mark.skipif(os.name == "nt", reason="files have no mode for others on Windows")
def test_an_address_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "address"
    file.write_text("sqlite:///a.db")
    file.chmod(0o644)

    with pytest.raises(fp.errors.SettingsError, match="others than its owner"):
        SiloSettings.from_mapping(given(data=None, url_file=str(file), table="visits"))


def test_the_other_groups_of_a_column_are_read_as_in_sketch():
    assert reading_of({"group": " , "})["group"] is None
    assert reading_of({"group": "sex,"})["group"] == ("sex",)


def test_tables_of_toml_are_flattened():
    assert flat_settings({"silo": "a", "map": {"f": "F", "x": {"y": "Z"}}}) == {
        "silo": "a",
        "map.f": "F",
        "map.x.y": "Z",
    }
    with pytest.raises(fp.errors.SettingsError, match="'groups' must be"):
        flat_settings({"groups": ["A", "B"]})


def own_settings(folder, plan, **changes):
    """Settings of a silo whose files are in a folder."""
    return SiloSettings.from_mapping(
        {
            "silo": "aurora",
            "plan": plan.digest,
            "data": str(write_csv(folder / "a.csv", some_tables()["aurora"])),
            "ledger": str(folder / "ledger"),
            "folder": str(folder / "left"),
        }
        | changes
    )


def test_another_plan_is_refused_before_anything_is_read_or_written(tmp_path):
    """A path that does not exist does not matter, since nobody looks at it."""
    settings = own_settings(tmp_path, some_plan(levels=4), data=str(tmp_path / "none.csv"))
    asked = some_plan()
    steps = ["keys", "shares", "mask", "consent", "unmask", "sketch"]

    for step in steps:
        with pytest.raises(fp.errors.ApprovalError) as caught:
            answer(Request(step=step, plan=asked), settings)
        assert asked.digest in caught.value.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


def test_a_silo_whose_name_the_plan_does_not_have_is_refused_before_data_are_read(tmp_path):
    plan = some_plan()
    settings = own_settings(tmp_path, plan, silo="elm", data=str(tmp_path / "none.csv"))

    with pytest.raises(fp.FedparityError):
        answer(Request(step="sketch", plan=plan), settings)


def test_what_is_kept_is_in_a_folder_for_its_owner_alone(tmp_path):
    settings = own_settings(tmp_path, some_plan())

    kept = settings.kept(some_plan(), "sketch.json")

    assert kept.parent == tmp_path / "left"
    assert kept.name == f"aurora-{some_plan().digest[7:19]}.sketch.json"
    if os.name != "nt":
        assert kept.parent.stat().st_mode & 0o777 == 0o700
