"""What is deleted is gone, the log stays whole, and an older database is upgraded or refused."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.unit.service.samples import message, plan

from fedparity.errors import OptionError
from fedparity.service import access
from fedparity.service import store as schema
from fedparity.service.retention import delete_old, delete_study
from fedparity.service.store import Store
from fedparity.service.studies import Studies

OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def store(folder):
    opened = Store.in_folder(str(folder))
    yield opened
    opened.close()


@pytest.fixture
def studies(store):
    return Studies(store)


def age(store, study):
    """Let everything in a study have happened long ago."""
    with store.engine.begin() as connection:
        connection.execute(
            sa.update(schema.event).where(schema.event.c.study == study).values(at=OLD)
        )


def test_old_studies_are_deleted_and_others_stay(studies, store):
    old, new = (studies.create(plan(title=name).to_toml(), deadline=None) for name in "ab")
    age(store, old)
    deleted, _ = delete_old(studies, 30)

    assert deleted == [old]
    assert [each[0] for each in studies.summaries()] == [new]
    assert store.events(old)[-1].actor == "retention"


def test_without_an_age_no_study_is_deleted(studies, store):
    age(store, studies.create(plan().to_toml(), deadline=None))

    assert delete_old(studies, None) == ([], 0)


@pytest.mark.parametrize("days", [0, -1, 10**6])
def test_an_age_is_a_number_of_days(studies, days):
    with pytest.raises(OptionError):
        delete_old(studies, days)


def test_expired_secrets_are_removed_from_the_store(studies, store):
    study = studies.create(plan().to_toml(), deadline=None)
    token, link = studies.token(study, "aurora"), studies.invite(study, "bayside")
    with store.change() as change:
        change.connection.execute(
            sa.update(schema.credential)
            .where(schema.credential.c.kind == "token")
            .values(expires=OLD)
        )

    assert delete_old(studies, None) == ([], 1)
    assert access.find(store, "token", token) is None
    assert access.find(store, "link", link) is not None


def test_nothing_of_a_deleted_study_is_left_in_any_file(studies, store, folder):
    """Neither in a free page of the database nor in its write-ahead log."""
    study = studies.create(plan(title="Zebra crossing").to_toml(), deadline=None)
    data = message("aurora", agreed=plan(title="Zebra crossing"))
    studies.receive(study, "aurora", data)
    content = data[100:160]

    def kept():
        return b"".join(path.read_bytes() for path in folder.iterdir() if path.name[-4:] != "-shm")

    assert b"Zebra crossing" in kept()
    assert content in kept()
    delete_study(studies, study)
    assert b"Zebra crossing" not in kept()
    assert content not in kept()
    assert store.check_log() == len(store.events())


def test_the_command_deletes_once(studies, store, folder):
    age(store, studies.create(plan().to_toml(), deadline=None))
    words = ["serve", "prune", "--older-than", "30", "--data", str(folder)]
    done = subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-m", "fedparity", *words], capture_output=True, text=True, check=True
    )

    assert "deleted 1 studies" in done.stdout
    assert studies.summaries() == []


def as_version_one(store):
    """Make a database what version 1 of it was."""
    with store.engine.begin() as connection:
        for name in ("reader", "round_message", "round_request"):
            connection.execute(sa.text(f"DROP TABLE {name}"))
        connection.execute(sa.text("ALTER TABLE credential DROP COLUMN reader"))
        connection.execute(sa.update(schema.head).values(version=1))


def test_an_older_database_is_upgraded_with_all_that_is_in_it(studies, store, folder):
    study = studies.create(plan().to_toml(), deadline=None)
    token = studies.token(study, "aurora")
    studies.receive(study, "aurora", message("aurora"))
    lines = store.check_log()
    as_version_one(store)
    store.close()
    upgraded = Store.in_folder(str(folder))

    assert upgraded.check_log() == lines
    assert Studies(upgraded).messages(study)[0].to_bytes() == message("aurora")
    assert access.find(upgraded, "token", token).silo == "aurora"
    columns = {
        table.name: {
            column["name"] for column in sa.inspect(upgraded.engine).get_columns(table.name)
        }
        for table in schema.tables.sorted_tables
    }
    assert columns == {table.name: set(table.c.keys()) for table in schema.tables.sorted_tables}
    upgraded.close()


@pytest.mark.parametrize("version", [0, 3, 99])
def test_a_version_that_nobody_knows_is_refused_and_left_alone(store, folder, version):
    with store.engine.begin() as connection:
        connection.execute(sa.update(schema.head).values(version=version))
    store.close()
    before = Path(folder / "collector.sqlite").read_bytes()

    with pytest.raises(OptionError, match=f"version {version}"):
        Store.in_folder(str(folder))
    assert Path(folder / "collector.sqlite").read_bytes() == before
