"""Who gets in, and who does not; what every answer carries."""

import re

import pytest
from starlette.testclient import TestClient
from tests.unit.service.samples import message, plan

from fedparity.errors import OptionError
from fedparity.page.build_page import build_page
from fedparity.service.readers import invite_reader
from fedparity.service.server import Address, auditor_link
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.service.web import collector

ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture
def store(tmp_path):
    opened = Store.in_folder(str(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def studies(store):
    return Studies(store)


@pytest.fixture
def study(studies):
    return studies.create(plan().to_toml(), deadline=None)


@pytest.fixture
def browser(store):
    """Return a new browser of the same collector."""
    application = collector(store, address=ADDRESS, hosts=("127.0.0.1",), secure=False)
    return lambda: TestClient(application, base_url=ADDRESS)


@pytest.fixture
def auditor(store, browser):
    client = browser()
    link = auditor_link(store, Address())
    client.post(link.removeprefix(ADDRESS))
    return client


def csrf(client, page):
    return re.search(r'name="csrf" value="([^"]+)"', client.get(page).text)[1]


def silo_browser(studies, study, browser, silo="aurora"):
    client = browser()
    client.post(f"/enter/{studies.invite(study, silo)}")
    return client


def test_strangers_see_the_same_whether_there_is_a_study_or_not(browser, study):
    client = browser()
    pages = [
        f"/studies/{study}",
        "/studies/0000000000000000",
        "/studies/x/plan.toml",
        "/silo",
        "/nothing",
    ]
    answers = [client.get(page) for page in pages]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert "Readmission" not in client.get("/").text


def test_a_silo_sees_its_own_page_and_nothing_of_the_study(studies, study, browser):
    studies.receive(study, "bayside", message("bayside"))
    client = silo_browser(studies, study, browser)
    own = client.get("/silo")

    assert own.status_code == 200
    assert "bayside" not in own.text
    for page in (
        "",
        "/news",
        "/provisional",
        "/plan.toml",
        "/runs/1/report.html",
        "/runs/1/evidence.zip",
    ):
        assert client.get(f"/studies/{study}{page}").status_code == 404
    for page in ("invite", "reopen", "audit", "delete"):
        token = {"csrf": csrf(client, "/silo"), "silo": "aurora"}
        assert client.post(f"/studies/{study}/{page}", data=token).status_code == 404


def test_a_silo_gets_the_page_that_sketches_under_its_own_policy(studies, study, browser):
    client = silo_browser(studies, study, browser)
    answer = client.get("/silo/sketch.html")

    assert 'href="/silo/sketch.html"' in client.get("/silo").text
    assert answer.content == build_page(studies.get(study).plan)
    assert "connect-src 'none'" in answer.headers["content-security-policy"]
    policy = answer.headers["content-security-policy"].removesuffix("; frame-ancestors 'none'")
    assert policy in answer.text
    assert browser().get("/silo/sketch.html").status_code == 404


def test_a_form_needs_the_secret_of_its_session(auditor, study):
    for given in ({}, {"csrf": ""}, {"csrf": "x" * 43}):
        answer = auditor.post(f"/studies/{study}/audit", data=given)
        assert answer.status_code == 403


def test_a_request_of_another_page_or_for_another_host_is_refused(auditor, study):
    secret = csrf(auditor, f"/studies/{study}")
    foreign = auditor.post(
        f"/studies/{study}/audit",
        data={"csrf": secret},
        headers={"origin": "https://evil.example"},
    )
    forged = auditor.get("/", headers={"host": "evil.example"})

    assert (foreign.status_code, forged.status_code) == (403, 421)


def test_a_whole_study_in_the_browser(auditor, studies, browser):
    secret = csrf(auditor, "/")
    files = {"plan": ("plan.toml", plan().to_toml())}
    page = auditor.post("/studies", data={"csrf": secret, "deadline": "2026-12-01"}, files=files)
    study = page.url.path.rpartition("/")[2]
    for silo in ("aurora", "bayside"):
        invited = auditor.post(f"/studies/{study}/invite", data={"csrf": secret, "silo": silo})
        link = re.search(r'id="link">([^<]+)<', invited.text)[1].removeprefix(ADDRESS)
        client = browser()
        assert client.get(link).status_code == 200  # a program that checks mail does not use it up
        client.post(link)
        own = {"csrf": csrf(client, "/silo")}
        client.post("/silo/approve", data=own)
        sent = client.post("/silo/message", data=own, files={"message": message(silo)})
        assert "on the disk" in sent.text
    audited = auditor.post(f"/studies/{study}/audit", data={"csrf": secret})
    report = auditor.get(f"/studies/{study}/runs/1/report.html")
    provisional = auditor.get(f"/studies/{study}/provisional").json()

    assert "2 of 3" in audited.text
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert set(provisional) == {"words", "answered", "all", "n", "gap"}
    assert studies.get(study).runs[0][0] == 1


def test_programs_send_with_a_token(browser, studies, study):
    client, token = browser(), studies.token(study, "aurora")
    key = {"authorization": f"Bearer {token}"}
    answers = [
        client.put("/api/message", content=message("aurora"), headers=key),
        client.put("/api/message", content=message("aurora"), headers=key),
        client.put("/api/message", content=message("aurora", seed=1), headers=key),
        client.put("/api/message", content=b"{}", headers=key),
        client.put("/api/message", content=message("bayside"), headers=key),
        client.put(
            "/api/message", content=message("aurora"), headers={"authorization": "Bearer x"}
        ),
        client.put("/api/message", content=message("aurora")),
    ]

    assert [answer.status_code for answer in answers] == [201, 200, 409, 422, 422, 401, 401]


def test_a_session_is_no_token_and_a_token_no_session(browser, studies, study):
    client = silo_browser(studies, study, browser)
    session = client.cookies["fedparity_session"]
    sent = browser().put(
        "/api/message", content=message("aurora"), headers={"authorization": f"Bearer {session}"}
    )
    other = browser()
    other.cookies.set("fedparity_session", studies.token(study, "bayside"))

    assert sent.status_code == 401
    assert other.get("/silo").status_code == 404


def test_large_bodies_are_refused(browser, studies, study):
    key = {"authorization": f"Bearer {studies.token(study, 'aurora')}"}
    stated = browser().put("/api/message", content=b"x" * (9 << 20), headers=key)
    streamed = browser().put(
        "/api/message", content=(b"x" * (1 << 20) for _ in range(9)), headers=key
    )

    assert (stated.status_code, streamed.status_code) == (413, 413)


def test_every_answer_forbids_scripts_of_others(auditor, study):
    for page in ("/", f"/studies/{study}", "/healthz", "/static/study.js", "/nothing"):
        headers = auditor.get(page).headers
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_names_of_people_are_text_and_never_markup(auditor, studies):
    bad = '<script>alert("x")</script>'
    agreed = plan().to_toml().replace("Readmission", bad.replace('"', '\\"'))
    study = studies.create(agreed, deadline=None)

    assert bad not in auditor.get(f"/studies/{study}").text


def test_a_wrong_plan_is_explained(auditor):
    answer = auditor.post(
        "/studies",
        data={"csrf": csrf(auditor, "/")},
        files={"plan": ("plan.toml", "groups = 3")},
    )

    assert answer.status_code == 422
    assert "fix:" in answer.text


@pytest.mark.parametrize(
    "options",
    [{"host": "0.0.0.0"}, {"tls_cert": "x"}, {"tls_key": "x"}, {"host": "audit.example"}],  # noqa: S104
)
def test_another_address_needs_tls_or_a_proxy(options):
    with pytest.raises(OptionError):
        Address(**options)


def test_cookies_behind_tls_are_of_this_host_alone(store, studies, study):
    application = collector(
        store, address="https://audit.example", hosts=("audit.example",), secure=True
    )
    client = TestClient(application, base_url="https://audit.example")
    answer = client.post(f"/enter/{studies.invite(study, 'aurora')}", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()

    assert cookie.startswith("__host-")
    assert all(word in cookie for word in ("httponly", "secure", "samesite=strict", "path=/"))


def test_who_guesses_is_slowed_down(browser, studies, study):
    client, token = browser(), studies.token(study, "aurora")
    guesses = [client.get(f"/studies/{number}").status_code for number in range(80)]

    assert guesses[0] == 404
    assert guesses[-1] == 429
    assert (
        client.put(
            "/api/message", content=b"{}", headers={"authorization": f"Bearer {token}"}
        ).status_code
        == 429
    )


def test_a_silo_that_repeats_itself_without_end_is_slowed_down(browser, studies, study):
    client, key = browser(), {"authorization": f"Bearer {studies.token(study, 'aurora')}"}
    codes = [client.put("/api/message", content=b"{}", headers=key).status_code for _ in range(40)]

    assert codes[0] == 422
    assert codes[-1] == 429


def test_the_auditors_page_reminds_and_shows_earlier_rounds_and_a_readers_does_not(
    auditor, studies, store, study, browser
):
    for silo in ("aurora", "bayside"):
        studies.receive(study, silo, message(silo))
    studies.audit(study)
    later = studies.create(plan(title="Next").to_toml(), deadline="2020-01-01")
    reader = browser()
    reader.post(f"/enter/{invite_reader(store, later, 'Ada')}")
    page, seen = (each.get(f"/studies/{later}").text for each in (auditor, reader))

    assert "was due 2020-01-01" in page
    assert "which was due by 2020-01-01." in page
    assert "For aurora, bayside, cedar." in page
    assert f"/studies/{study}/runs/1/report.html" in page
    assert "% of the scale" in page
    assert "waits for your answer" not in seen
    assert study not in seen
