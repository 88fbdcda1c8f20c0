"""What hostile people, silos and accidents try, and what becomes of it."""

import html
import io
import json
import os
import shlex
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient
from tests import databases
from tests.unit.service.samples import message, plan
from tests.unit.service.test_interface import ADDRESS, World

from fedparity.auditing.audit import audit_messages
from fedparity.errors import FedparityError, MessageError, OptionError
from fedparity.service import access
from fedparity.service import store as schema
from fedparity.service.evidence import evidence_archive
from fedparity.service.retention import delete_study
from fedparity.service.store import Store

BAD = """<img src=x onerror=alert(1)>'"$(touch x)`"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.database)])
def world(request, tmp_path):
    """A collector with two studies and somebody of every role, on each kind of database."""
    if request.param == "sqlite":
        store = Store.in_folder(str(tmp_path / "data"))
        yield World(store)
        store.close()
        return
    with databases.empty_schema(f"attacks_{os.getpid()}") as url:
        store = Store(url)
        yield World(store)
        store.close()


@pytest.fixture
def sqlite_world(tmp_path):
    store = Store.in_folder(str(tmp_path / "data"))
    yield World(store)
    store.close()


def quiet(world):
    """Return a stranger's browser for which a failure of the server is an answer, as for real ones."""
    return TestClient(
        world.app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False
    )


@pytest.mark.parametrize(
    "path",
    [
        "/studies/%00",
        "/studies/%00/plan.toml",
        "/studies/%00/news",
        "/studies/0123456789abcdef/news",
        "/studies/0123456789abcdef/runs/1/report.html",
        "{one}/runs/99999999999999999999999/report.html",
        "{one}/runs/9223372036854775807/evidence.zip",
        "{one}/runs/2147483648/report.html",
        "{one}/runs/0/evidence.zip",
        "/studies/" + "a" * 5000,
        "/api/round/%00",
    ],
)
def test_a_page_that_cannot_be_is_not_there(world, path):
    client = quiet(world)
    client.cookies = world.auditor.cookies
    answer = client.get(path.replace("{one}", f"/studies/{world.plain}"))

    assert answer.status_code in (401, 404)


@pytest.mark.parametrize("name", ["\x00", "a\nb", "\u202e", "x" * 300, BAD])
def test_names_that_nobody_has_fail_nowhere(world, name):
    client = quiet(world)
    client.cookies = world.auditor.cookies
    secret = {"csrf": world.csrf(world.auditor)}
    one = f"/studies/{world.plain}"
    codes = [
        client.post(f"{one}/{page}", data=secret | {"name": name, "silo": name}).status_code
        for page in ("readers/remove", "invite", "reopen", "readers")
    ]

    assert codes[:3] == [303, 404, 404]
    assert codes[3] == (200 if name == BAD else 422)


@pytest.mark.parametrize("name", ["a\x00b", "x" * 1000, "a\u202eb", "a\rb", "a\tb", "\x1b[2J"])
def test_a_silo_has_a_name_that_can_be_seen(world, name):
    """The names typed by the auditor keep to the rules of those in plans."""
    with pytest.raises(OptionError, match="name"):
        world.studies.create(plan(silos=None, title="x").to_toml(), deadline=None, silos=[name])


def test_names_typed_beside_a_plan_with_silos_are_not_ignored(sqlite_world):
    with pytest.raises(OptionError, match="names its silos"):
        sqlite_world.studies.create(plan(title="x").to_toml(), deadline=None, silos=["dune"])


def test_a_plan_that_is_not_utf_8_is_refused_and_not_changed(sqlite_world):
    text = plan(title="New").to_toml().encode() + b"\n# \xff\n"
    answer = sqlite_world.post(sqlite_world.auditor, "/studies", files={"plan": ("p", text)})

    assert answer.status_code == 422
    assert "UTF-8" in answer.text


@pytest.mark.parametrize("day", ["20261231", "2026-W01-1", "2026-12-31T10:00:00"])
def test_a_deadline_is_written_in_one_way(sqlite_world, day):
    """They are compared as texts."""
    with pytest.raises(OptionError, match="not a day"):
        sqlite_world.studies.create(plan(title="x").to_toml(), deadline=day)


def test_a_command_to_copy_is_one_command_whatever_the_silos_name(sqlite_world):
    """A name chosen by the auditor runs nothing on the silo's machine."""
    w, name = sqlite_world, "O'Brien; touch x $(touch y)"
    study = w.studies.create(plan(silos=(name,), title="x").to_toml(), deadline=None)
    page = w.browser(w.studies.invite(study, name)).get("/silo").text
    commands = [
        line
        for block in page.split("<pre>")[1:]
        for line in html.unescape(block.partition("</pre>")[0]).splitlines()
        if "--silo" in line
    ]

    assert len(commands) == 2
    for line in commands:
        words = shlex.split(line)
        assert words[words.index("--silo") + 1] == name


def test_names_are_text_on_every_page_and_plain_in_every_file(sqlite_world):
    w = sqlite_world
    names = (BAD, "../../etc/passwd", "..", "C:\\x", "a/b", "a-b", "A-B")
    agreed = plan(silos=names, title=f"{BAD} title", groups=(BAD, "B"))
    study = w.studies.create(agreed.to_toml(), deadline=None)
    for name in names:
        w.studies.receive(study, name, message(name, agreed=agreed))
    w.post(w.auditor, f"/studies/{study}/readers", name=BAD)
    number = w.studies.audit(study)
    pages = [
        w.auditor.get("/"),
        w.auditor.get(f"/studies/{study}"),
        w.browser(w.studies.invite(study, BAD)).get("/silo"),
        w.auditor.get(f"/studies/{study}/runs/{number}/report.html"),
        w.post(w.auditor, f"/studies/{study}/invite", silo=BAD),
    ]
    with zipfile.ZipFile(io.BytesIO(evidence_archive(w.studies, study, number))) as archive:
        files = archive.namelist()

    assert [page.status_code for page in pages] == [200] * 5
    assert not [page for page in pages if "<img src=x" in page.text]
    assert (
        sum(file.startswith("inbox/") for file in files)
        == len(names)
        == len({file.lower() for file in files if "inbox" in file})
    )
    assert not [
        f for f in files if ".." in f or "\\" in f or f.startswith("/") or f.count("/") > 1
    ]


def every_protected(world):
    """Every route behind a session, with the method, and an address of the plain study."""
    for route in world.app.routes:
        roles = getattr(getattr(route, "endpoint", None), "roles", None)
        if roles is None:
            continue
        path = route.path.replace("{study}", world.plain).replace("{number:int}", "1")
        for method in sorted(route.methods - {"HEAD"}):
            yield method, path, roles


def test_no_form_is_taken_with_the_secret_of_another_session(sqlite_world):
    w = sqlite_world
    mine, theirs = w.csrf(w.auditor), w.csrf(w.silo)
    before, asked = w.store.check_log(), []
    for method, path, roles in every_protected(w):
        if method != "POST":
            continue
        client, secret = (w.silo, mine) if "silo" in roles else (w.auditor, theirs)
        asked += [
            client.post(path, data=data | {"silo": "aurora"}).status_code
            for data in ({"csrf": secret}, {}, {"csrf": ""})
        ]

    assert len(asked) > 30
    assert set(asked) == {403}
    assert w.store.check_log() == before


def test_no_silo_reaches_another_study_or_the_auditors_pages(sqlite_world):
    """Every route and every method, with a session that is valid for something else."""
    w, codes = sqlite_world, set()
    w.studies.receive(w.plain, "bayside", message("bayside"))
    w.studies.audit(w.plain)
    other = w.studies.create(plan(title="Other").to_toml(), deadline=None)
    client = w.browser(w.studies.invite(other, "bayside"))
    secret = client.get("/silo").text.partition('name="csrf" value="')[2].partition('"')[0]
    before = w.store.check_log()
    for method, path, roles in every_protected(w):
        if "silo" in roles:
            continue
        for tried in {method, "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}:
            body = {"data": {"csrf": secret, "silo": "bayside"}} if tried == "POST" else {}
            codes.add(client.request(tried, path, **body).status_code)

    assert codes <= {404, 405}
    assert w.store.check_log() == before


def test_a_form_of_another_site_opens_no_session(sqlite_world):
    """Otherwise an attacker could sign people in as somebody else, and read what they upload."""
    w = sqlite_world
    link = w.studies.invite(w.plain, "cedar")
    for origin in ("https://evil.example", "null", "http://127.0.0.1:8765.evil.example"):
        answer = w.browser().post(f"/enter/{link}", headers={"origin": origin})
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)

    answer = w.browser().post(f"/enter/{link}", headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert w.browser().post(f"/enter/{link}").status_code == 303


def test_a_session_that_was_planted_is_not_taken_over(sqlite_world):
    w = sqlite_world
    client = w.browser()
    client.cookies.set("fedparity_session", "planted" * 6)
    client.post(f"/enter/{w.studies.invite(w.plain, 'cedar')}")
    given = [cookie.value for cookie in client.cookies.jar if cookie.value != "planted" * 6]

    assert len(given) == 1
    assert access.find(w.store, "session", "planted" * 6) is None


def test_coming_in_again_ends_the_session_before(sqlite_world):
    w = sqlite_world
    client = w.browser(w.studies.invite(w.plain, "cedar"))
    old = client.cookies["fedparity_session"]
    with w.store.change() as change:
        link = access.issue(change, "link", "silo", study=w.plain, silo="cedar")
    client.post(f"/enter/{link}")

    assert access.find(w.store, "session", old) is None


def test_redirects_lead_to_own_pages_only(sqlite_world):
    w = sqlite_world
    for path in ("//evil.example", "/%2f%2fevil.example", "/studies/?next=https://evil.example"):
        for client in (w.auditor, w.silo, w.browser()):
            where = client.get(path).headers.get("location", "/")
            assert where.startswith("/")
            assert not where.startswith("//")


def test_a_body_of_two_lengths_is_refused(sqlite_world):
    """A proxy in front may believe one, and this program the other: a second request would hide there."""
    headers = {"transfer-encoding": "chunked", "content-length": "5"}
    answer = sqlite_world.browser().post("/enter/x", content=b"0\r\n\r\n", headers=headers)

    assert answer.status_code == 400


def test_a_silo_cannot_fill_the_log_through_its_page_or_with_new_tokens(sqlite_world):
    """The rate is that of a silo, whatever way and whichever token it takes."""
    w = sqlite_world
    forms = [
        w.post(w.silo, "/silo/message", files={"message": b"{}"}).status_code for _ in range(60)
    ]
    key = {"authorization": f"Bearer {w.studies.token(w.plain, 'aurora')}"}
    sent = w.browser().put("/api/message", content=b"{}", headers=key)

    assert (forms[0], forms[-1], sent.status_code) == (422, 429, 429)
    assert len([line for line in w.store.events(w.plain) if line.action == "was refused"]) < 50


def test_news_end_with_the_study_and_with_the_right_to_it(sqlite_world):
    """Somebody who watches a study learns nothing after it was deleted, or after they were removed."""
    w = sqlite_world
    for end in (
        lambda: w.post(w.auditor, f"/studies/{w.plain}/readers/remove", name="Ada"),
        lambda: delete_study(w.studies, w.plain),
    ):
        client = w.reader if "remove" in repr(end.__code__.co_consts) else w.auditor
        threading.Timer(0.5, end).start()
        watching = threading.Thread(
            target=lambda c=client: c.get(f"/studies/{w.plain}/news"), daemon=True
        )
        watching.start()
        watching.join(15)
        assert not watching.is_alive()


def test_a_session_watches_some_pages_and_leaves_the_rest_to_others(sqlite_world, monkeypatch):
    """Each stream is a connection, of which the service has a few hundred."""
    w = sqlite_world
    monkeypatch.setattr("fedparity.service.auditor_pages._MOST_STREAMS", 0)

    assert w.reader.get(f"/studies/{w.plain}/news").status_code == 429


def test_streams_that_ended_do_not_count(sqlite_world, monkeypatch):
    w = sqlite_world
    monkeypatch.setattr("fedparity.service.auditor_pages._MOST_STREAMS", 1)
    monkeypatch.setattr("fedparity.service.auditor_pages.is_valid", lambda *_: False)
    found = [w.reader.get(f"/studies/{w.plain}/news") for _ in range(3)]

    assert [each.status_code for each in found] == [200, 200, 200]
    assert found[0].headers["x-accel-buffering"] == "no"  # or a proxy keeps the news back


def test_images_of_another_page_do_not_shut_a_person_out(sqlite_world):
    """What they guess would count against the address of the person who looks at that page."""
    w = sqlite_world
    browser, link = w.browser(), {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    image = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "no-cors",
        "sec-fetch-dest": "image",
    }
    images = {browser.get(f"/x{n}", headers=image).status_code for n in range(100)}
    frame = browser.get("/", headers=link | {"sec-fetch-dest": "iframe"})

    assert (images, frame.status_code) == ({403}, 403)
    assert browser.get("/x").status_code == 404
    assert browser.get("/", headers=link | {"sec-fetch-dest": "document"}).status_code == 200


def test_a_study_that_is_deleted_meanwhile_fails_for_nobody_else(world):
    """Others' messages share the transaction of one whose study is gone."""
    w = world
    other = w.studies.create(plan(title="Other").to_toml(), deadline=None)
    w.studies.plan(w.plain)
    with w.store.change() as change:
        change.connection.execute(sa.delete(schema.study).where(schema.study.c.id == w.plain))
    with pytest.raises(FedparityError, match="no such study"):
        w.studies.receive(w.plain, "aurora", message("aurora"))
    agreed = plan(title="Other")
    assert w.studies.receive(other, "aurora", message("aurora", agreed=agreed)).new


def test_an_audit_of_a_study_that_is_deleted_meanwhile_is_not_there(sqlite_world, monkeypatch):
    w = sqlite_world
    w.studies.receive(w.plain, "aurora", message("aurora"))

    def slow(*asked):
        delete_study(w.studies, w.plain)
        return audit_messages(*asked)

    secret = w.csrf(w.auditor)
    monkeypatch.setattr("fedparity.service.studies.audit_messages", slow)
    client = quiet(w)
    client.cookies = w.auditor.cookies
    answer = client.post(f"/studies/{w.plain}/audit", data={"csrf": secret})

    assert answer.status_code == 404


def test_two_audits_at_once_have_two_numbers(sqlite_world):
    w = sqlite_world
    for silo in ("aurora", "bayside"):
        w.studies.receive(w.plain, silo, message(silo))
    numbers = []
    threads = [
        threading.Thread(target=lambda: numbers.append(w.studies.audit(w.plain))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(numbers) == [1, 2, 3, 4]
    assert len({w.studies.result(w.plain, n).digest for n in numbers}) == 1


def break_database(world):
    """Let every write fail as it does on a disk that is full."""

    @sa.event.listens_for(world.store.engine, "before_cursor_execute")
    def fail(_, cursor, statement, *__):
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            cursor.execute("SELECT * FROM there_is_no_such_table")


def test_a_database_that_fails_is_said_to_and_shows_no_contents(sqlite_world, capfd):
    w = sqlite_world
    secret, data = w.csrf(w.silo), message("aurora")
    break_database(w)
    sent = w.ask("PUT", "/api/message", content=data)
    client = quiet(w)
    client.cookies = w.silo.cookies
    page = client.post("/silo/message", data={"csrf": secret}, files={"message": data})
    said = capfd.readouterr()

    assert (sent.status_code, page.status_code) == (503, 503)
    assert set(sent.json()) == {"error", "fix"}
    assert "values" not in said.err + said.out + sent.text + page.text
    assert w.studies.messages(w.plain) == []


def test_an_error_of_the_database_repeats_nothing_that_was_stored(sqlite_world):
    w = sqlite_world
    break_database(w)
    with pytest.raises(sa.exc.SQLAlchemyError) as caught:
        w.studies.receive(w.plain, "aurora", message("aurora"))

    assert "values" not in str(caught.value)
    assert "aurora" not in str(caught.value)


def test_a_bug_is_an_answer_and_a_line_without_its_words(sqlite_world, monkeypatch, capfd):
    """The words of an error may be somebody's data."""
    w = sqlite_world

    def broken(*_):
        raise ValueError("0.7312 is of Ada")

    monkeypatch.setattr(w.studies.__class__, "receive", broken)
    answer = w.ask("PUT", "/api/message", content=b"{}")
    said = capfd.readouterr().err

    assert answer.status_code == 500
    assert "ValueError" in said
    assert "Ada" not in said + answer.text


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path):
    """On a file system of a few hundred KiB, filled by messages until no more fit."""
    program = f"""
import sys, resource
from tests.unit.service.samples import message, plan
from fedparity.service.store import Store
from fedparity.service.studies import Studies
import sqlalchemy as sa
names = tuple(f"silo {{n}}" for n in range(60))
agreed = plan(silos=names, levels=500)
store = Store.in_folder({str(tmp_path / "data")!r})
studies = Studies(store)
study = studies.create(agreed.to_toml(), deadline=None)
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))  # as if the disk ended there
for name in names:
    data = message(name, agreed=agreed)
    try:
        studies.receive(study, name, data)
    except sa.exc.SQLAlchemyError:
        print("full", flush=True)
        break
    print(name, flush=True)
"""
    done = subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    told = done.stdout.split("\n")[:-1]
    assert told[-1] == "full", done.stderr
    again = Store.in_folder(str(tmp_path / "data"))
    with again.read() as connection:
        kept = {row.silo for row in connection.execute(sa.select(schema.message.c.silo))}

    assert kept == set(told[:-1])
    assert kept
    again.check_log()
    again.close()


def test_a_reader_who_asks_at_once_costs_one_audit(sqlite_world, monkeypatch):
    """What would be known now is computed once for the messages that are here."""
    w, runs = sqlite_world, []
    for silo in ("aurora", "bayside"):
        w.studies.receive(w.plain, silo, message(silo))

    def counted(*asked):
        runs.append(1)
        return audit_messages(*asked)

    monkeypatch.setattr("fedparity.service.studies.audit_messages", counted)
    threads = [
        threading.Thread(target=w.reader.get, args=[f"/studies/{w.plain}/provisional"])
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1
    w.studies.receive(w.plain, "cedar", message("cedar"))
    w.reader.get(f"/studies/{w.plain}/provisional")
    assert len(runs) == 2


def test_a_message_with_every_kind_of_damage_is_refused_with_a_fix(sqlite_world):
    data = message("aurora")
    bodies = [
        b'{"schema":' + b"1" * 5000 + b"}",
        b'{"a":1e999999}',
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
        b'{"a":NaN}',
        b'"\\ud800"',
        data.replace(b'"aurora"', b'"aur\\u0000ora"'),
        data[:-1],
        data + data,
        b"\x1f\x8b\x08" + bytes(100),
        b"PK\x03\x04" + bytes(100),
    ]
    for body in bodies:
        answer = sqlite_world.ask("PUT", "/api/message", content=body)
        assert answer.status_code == 422
        assert set(json.loads(answer.content)) == {"error", "fix"}


def test_a_message_of_another_silo_or_plan_is_refused(sqlite_world):
    w = sqlite_world
    for data in (message("bayside"), message("aurora", agreed=plan(title="Other"))):
        with pytest.raises(MessageError):
            w.studies.receive(w.plain, "aurora", data)
    assert w.studies.messages(w.plain) == []
