"""What a collector keeps: messages once, changes with their line in the log, results that can be made again."""

import io
import json
import subprocess
import sys
import threading
import zipfile

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.unit.service.samples import SILOS, message, plan

from fedparity.auditing.audit import audit_messages
from fedparity.documents.signing import sign_plan, signed_text
from fedparity.errors import ConflictError, MessageError, OptionError, OutputError, PlanError
from fedparity.service import access
from fedparity.service import store as schema
from fedparity.service.evidence import evidence_archive
from fedparity.service.retention import delete_study
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.version import __version__


@pytest.fixture
def store(tmp_path):
    opened = Store.in_folder(str(tmp_path / "data"))
    yield opened
    opened.close()


@pytest.fixture
def studies(store):
    return Studies(store)


@pytest.fixture
def study(studies):
    return studies.create(plan().to_toml(), deadline="2026-12-01")


def test_a_message_is_kept_once(studies, study):
    first = studies.receive(study, "aurora", message("aurora"))
    again = studies.receive(study, "aurora", message("aurora"))

    assert (first.new, again.new, again.digest) == (True, False, first.digest)
    assert [each.silo for each in studies.messages(study)] == ["aurora"]


def test_another_message_is_refused_until_the_silo_is_reopened(studies, study):
    studies.receive(study, "aurora", message("aurora"))
    other = message("aurora", seed=1)

    with pytest.raises(ConflictError):
        studies.receive(study, "aurora", other)
    studies.reopen(study, "aurora")
    studies.receive(study, "aurora", other)

    assert [each.to_bytes() for each in studies.messages(study)] == [other]
    with pytest.raises(ConflictError):  # once
        studies.receive(study, "aurora", message("aurora", seed=2))


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"schema": "fedparity/sketch/1"}']
)
def test_what_is_no_message_is_refused_and_logged(studies, study, store, data):
    with pytest.raises(MessageError):
        studies.receive(study, "aurora", data)

    assert store.events(study)[-1].action == "was refused"
    assert studies.get(study).silo("aurora").state == "refused"


def test_a_message_of_another_silo_or_plan_is_refused(studies, study):
    with pytest.raises(MessageError, match="another silo"):
        studies.receive(study, "aurora", message("bayside"))
    with pytest.raises(MessageError):
        studies.receive(study, "aurora", message("aurora", agreed=plan(levels=7)))


def test_states_follow_what_happened(studies, study):
    states = []
    for step in (
        lambda: None,
        lambda: studies.mark(study, "aurora", "seen"),
        lambda: studies.mark(study, "aurora", "approved"),
        lambda: studies.receive(study, "aurora", message("aurora")),
    ):
        step()
        states.append(studies.get(study).silo("aurora").state)

    assert states == ["asked", "seen", "approved", "received"]


def test_a_silo_sees_no_other(studies, study):
    assert [silo.name for silo in studies.get(study, only="bayside").silos] == ["bayside"]


def test_evidence_gives_the_same_result_again(studies, study, tmp_path):
    for silo in SILOS[:2]:
        studies.receive(study, silo, message(silo))
    number = studies.audit(study)
    with zipfile.ZipFile(io.BytesIO(evidence_archive(studies, study, number))) as archive:
        archive.extractall(tmp_path / "evidence")

    command = ["audit", "plan.toml", "inbox", "-o", "again.json"]
    subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-m", "fedparity", *command],
        cwd=tmp_path / "evidence",
        check=True,
        capture_output=True,
    )

    again = (tmp_path / "evidence" / "again.json").read_bytes()
    assert again == (tmp_path / "evidence" / "result.json").read_bytes()


def test_a_replaced_message_stays_in_the_evidence_of_its_audit(studies, study):
    first = message("aurora")
    studies.receive(study, "aurora", first)
    studies.receive(study, "bayside", message("bayside"))
    number = studies.audit(study)
    studies.reopen(study, "aurora")
    studies.receive(study, "aurora", message("aurora", seed=1))

    with zipfile.ZipFile(io.BytesIO(evidence_archive(studies, study, number))) as archive:
        assert archive.read("inbox/aurora.json") == first


def test_the_evidence_states_the_programs_that_made_it(studies, study):
    for silo in ("aurora", "bayside"):
        studies.receive(study, silo, message(silo))
    number = studies.audit(study)
    with zipfile.ZipFile(io.BytesIO(evidence_archive(studies, study, number))) as archive:
        versions = json.loads(archive.read("versions.json"))

    assert versions["fedparity"] == __version__
    assert {"python", "numpy", "sqlalchemy"} <= versions.keys()


def test_earlier_rounds_are_those_of_the_same_groups_with_a_silo_in_common(studies, store):
    def begun(day, **options):
        made = studies.create(plan(**options).to_toml(), deadline=None)
        with store.change() as change:
            change.connection.execute(
                sa.update(schema.study)
                .where(schema.study.c.id == made)
                .values(created=f"2026-01-0{day}T00:00:00Z")
            )
        return made

    first = begun(1, title="Q1", silos=("aurora", "dune"))
    begun(2, title="others", silos=("dune", "elm"))
    begun(3, title="other groups", groups=("A", "C"))
    second = begun(4, title="Q2")
    third = begun(5, title="Q3")
    begun(6, title="Q4")

    assert [each.id for each in studies.before(studies.get(third))] == [second, first]
    assert [each.id for each in studies.before(studies.get(third), most=1)] == [second]


def test_a_plan_that_was_changed_after_it_was_signed_begins_nothing(studies):
    key = Ed25519PrivateKey.generate()
    signed = sign_plan(plan(), key)
    changed = signed_text(plan().to_toml(), signed).replace("Readmission", "Another")

    with pytest.raises(PlanError, match="changed after it was signed"):
        studies.create(changed, deadline=None)
    begun = studies.create(signed_text(plan().to_toml(), signed), deadline=None)
    assert studies.get(begun).plan.signature == signed.signature


def test_the_log_is_a_chain_that_shows_any_change(studies, study, store):
    studies.receive(study, "aurora", message("aurora"))
    lines = store.check_log()

    for change in (
        sa.update(schema.event).where(schema.event.c.sequence == 1).values(detail="nothing"),
        sa.delete(schema.event).where(schema.event.c.sequence == lines),
    ):
        with store.engine.connect() as connection, connection.begin() as transaction:
            connection.execute(change)
            transaction.commit()
        with pytest.raises(OptionError, match="broken"):
            store.check_log()


def test_writers_at_once_lose_nothing_and_keep_the_chain(studies, store):
    names = tuple(f"silo {n}" for n in range(40))
    many = studies.create(plan(silos=names).to_toml(), deadline=None)

    def mark(name):
        studies.mark(many, name, "seen")

    threads = [threading.Thread(target=mark, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {silo.state for silo in studies.get(many).silos} == {"seen"}
    assert store.check_log() == 1 + len(names)


def test_a_deleted_study_leaves_nothing_but_its_line(studies, study, store):
    studies.receive(study, "aurora", message("aurora"))
    link = studies.invite(study, "bayside")
    delete_study(studies, study)

    assert studies.get(study) is None
    assert access.find(store, "link", link) is None
    with store.read() as connection:
        for table in (schema.message, schema.silo, schema.run, schema.credential):
            assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 0
    assert store.check_log() == len(store.events())


def test_a_backup_is_whole_and_never_overwrites(studies, study, store, tmp_path):
    studies.receive(study, "aurora", message("aurora"))
    copy = tmp_path / "data copy" / "collector.sqlite"
    copy.parent.mkdir()
    store.back_up(str(copy))

    again = Store.in_folder(str(copy.parent))
    assert [each.silo for each in Studies(again).messages(study)] == ["aurora"]
    again.close()
    with pytest.raises(OutputError):
        store.back_up(str(copy))


def test_secrets_are_kept_as_hashes(studies, study, store):
    secrets = [studies.invite(study, "aurora"), studies.token(study, "aurora")]
    with store.read() as connection:
        kept = repr(connection.execute(sa.select(schema.credential)).all())

    assert not [secret for secret in secrets if secret in kept]


def test_a_link_works_once_and_an_expired_secret_never(studies, study, store):
    link = studies.invite(study, "aurora")
    with store.change() as change:
        session = access.redeem(change, link)
    with store.change() as change:
        assert access.redeem(change, link) is None
    assert access.find(store, "session", session).silo == "aurora"
    assert access.find(store, "token", session) is None

    with store.change() as change:
        change.connection.execute(
            sa.update(schema.credential).values(expires="2020-01-01T00:00:00Z")
        )
    assert access.find(store, "session", session) is None


def test_a_new_link_makes_the_old_ones_and_their_sessions_void(studies, study, store):
    token = studies.token(study, "aurora")
    link = studies.invite(study, "aurora")
    assert access.find(store, "token", token) is None
    studies.invite(study, "aurora")
    assert access.find(store, "link", link) is None


def test_a_plan_without_silos_needs_names(studies):
    text = plan(silos=None).to_toml()
    with pytest.raises(OptionError, match="names no silos"):
        studies.create(text, deadline=None)
    assert studies.get(studies.create(text, deadline=None, silos=["x"])).silos[0].name == "x"


def test_a_message_that_comes_while_the_audit_runs_is_not_in_its_evidence(
    studies, study, monkeypatch
):
    studies.receive(study, "aurora", message("aurora"))

    def slow(*asked):
        studies.receive(study, "bayside", message("bayside"))
        return audit_messages(*asked)

    monkeypatch.setattr("fedparity.service.studies.audit_messages", slow)
    number = studies.audit(study)

    with zipfile.ZipFile(io.BytesIO(evidence_archive(studies, study, number))) as archive:
        assert [name for name in archive.namelist() if "inbox" in name] == ["inbox/aurora.json"]
    assert studies.result(study, number).silos_received == ("aurora",)


def test_a_deadline_is_a_day(studies):
    with pytest.raises(OptionError, match="not a day"):
        studies.create(plan().to_toml(), deadline="soon")
