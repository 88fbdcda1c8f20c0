"""Readers see states and reports, and change nothing."""

import pytest
from tests.unit.service.samples import message, plan
from tests.unit.service.test_web import ADDRESS, auditor, browser, csrf, store, studies, study  # noqa: F401

from fedparity.service import access
from fedparity.service.readers import invite_reader, readers_of, remove_reader

# pytest finds fixtures by name
# ruff: noqa: F811


@pytest.fixture
def reader(store, study, browser):
    client = browser()
    client.post(f"/enter/{invite_reader(store, study, 'Ada Reyes')}")
    return client


@pytest.fixture
def audited(studies, study):
    for silo in ("aurora", "bayside"):
        studies.receive(study, silo, message(silo))
    studies.audit(study)
    return study


def routes(client):
    """Every page of the application below a study, with its methods."""
    found = [route for route in client.app.routes if route.path.startswith("/studies/{study}")]
    return {route.path: route.methods for route in found}


def test_a_reader_sees_every_page_that_changes_nothing(reader, audited):
    """Each route of a study is either seen or hidden; none is left out of this test."""
    seen, hidden = [], []
    secret = {"csrf": csrf(reader, f"/studies/{audited}")}
    for path, methods in routes(reader).items():
        if path.endswith("/news"):  # it never ends
            continue
        address = path.replace("{study}", audited).replace("{number:int}", "1")
        if "POST" in methods:
            hidden.append(reader.post(address, data=secret | {"silo": "aurora"}).status_code)
        else:
            seen.append(reader.get(address).status_code)

    assert set(seen) == {200}
    assert set(hidden) == {404}
    assert (len(seen), len(hidden)) == (5, 7)


def test_a_reader_begins_no_study_and_sees_no_other(reader, studies, study):
    other = studies.create(plan(title="Another").to_toml(), deadline=None)
    secret = {"csrf": csrf(reader, f"/studies/{study}")}
    asked = [
        reader.get(f"/studies/{other}"),
        reader.get("/silo"),
        reader.post("/studies", data=secret, files={"plan": ("plan.toml", plan().to_toml())}),
        reader.post("/silo/token", data=secret),
        reader.put("/api/message", content=message("aurora")),
    ]

    assert [answer.status_code for answer in asked] == [404, 404, 404, 404, 401]
    assert len(studies.summaries()) == 2
    assert reader.get("/").url.path == f"/studies/{study}"


def test_a_reader_sees_no_button(reader, study):
    text = reader.get(f"/studies/{study}").text

    assert text.count("<form") == 1  # to leave
    assert "Invite a reader" not in text


def test_the_auditor_invites_and_removes_readers(auditor, browser, store, study):
    secret = csrf(auditor, f"/studies/{study}")
    page = auditor.post(f"/studies/{study}/readers", data={"csrf": secret, "name": "Ada Reyes"})
    link = page.text.partition('id="link">')[2].partition("<")[0].removeprefix(ADDRESS)
    client = browser()
    client.post(link)

    assert "Ada Reyes" in page.text
    assert client.get(f"/studies/{study}").status_code == 200
    auditor.post(f"/studies/{study}/readers/remove", data={"csrf": secret, "name": "Ada Reyes"})
    assert client.get(f"/studies/{study}").status_code == 404
    assert readers_of(store, study) == []
    assert [line.actor for line in store.events(study) if "entered" in line.action] == [
        "reader Ada Reyes"
    ]


def test_a_new_link_of_a_reader_makes_the_old_ones_void_and_no_others(store, study, studies):
    old, other = (invite_reader(store, study, name) for name in ("Ada", "Ben"))
    token = studies.token(study, "aurora")
    invite_reader(store, study, "Ada")

    assert access.find(store, "link", old) is None
    assert access.find(store, "link", other).reader == "Ben"
    assert access.find(store, "token", token).silo == "aurora"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 5000])
def test_a_reader_has_a_name_on_one_line(auditor, store, study, name):
    secret = csrf(auditor, f"/studies/{study}")
    answer = auditor.post(f"/studies/{study}/readers", data={"csrf": secret, "name": name})

    assert answer.status_code == 422
    assert readers_of(store, study) == []


def test_removing_nobody_is_no_line_of_the_log(store, study):
    before = store.check_log()
    remove_reader(store, study, "Nobody")

    assert store.check_log() == before
