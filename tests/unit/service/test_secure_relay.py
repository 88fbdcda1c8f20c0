"""What a collector takes of a secure sum, what it gives to whom, and what it never does twice."""

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.secure_rounds import SILOS, Rounds, secure_plan, signing_keys

from fedparity.auditing.audit import audit_messages
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.signing import sign
from fedparity.errors import ConflictError, MessageError, OptionError
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_messages import SecureKeys, SecureShares
from fedparity.modes.secure.silo_steps import publish_keys
from fedparity.service.retention import delete_study
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.service.web import collector

NAMES = SILOS[:4]


@pytest.fixture
def store(tmp_path):
    opened = Store.in_folder(str(tmp_path / "data"))
    yield opened
    opened.close()


@pytest.fixture
def studies(store):
    return Studies(store)


@pytest.fixture
def rounds():
    """Every silo's steps, made as with files: the collector must take them as they are."""
    keys = signing_keys()
    return Rounds(secure_plan(keys=keys), keys)


@pytest.fixture
def study(studies, rounds):
    return studies.create(rounds.plan.to_toml(), deadline=None)


def published(rounds, silo):
    return publish_keys(rounds.plan, silo, key=rounds.keys[silo]).message


def vector(rounds, place):
    return np.arange(Layout.of(rounds.plan).length) * (place + 30)


def send(studies, study, *messages):
    return [studies.receive(study, each.silo, each.to_bytes()).new for each in messages]


@pytest.fixture
def shared(studies, study, rounds):
    """A round whose keys and shares are all there."""
    rounds.share()
    send(studies, study, *rounds.of(SecureKeys), *rounds.of(SecureShares))
    return rounds


@pytest.fixture
def masked(studies, study, shared):
    """The numbers of three of the four silos are there; the list is still open."""
    for place, silo in enumerate(NAMES[:3]):
        send(studies, study, shared.mask(silo, vector(shared, place)))
    return shared


def opened(studies, study, rounds):
    """Close the list, and let those on it answer."""
    studies.rounds.close_list(study)
    request = studies.rounds.phase(study).request
    rounds.sent.append(request)
    for silo in request.survivors:
        send(studies, study, rounds.consent(silo, request))
    for silo in request.survivors:
        send(studies, study, rounds.answer(silo, request))


def test_the_result_is_that_of_the_same_documents_in_files(studies, study, masked):
    opened(studies, study, masked)
    number = studies.audit(study)

    assert (
        studies.result(study, number).file_bytes()
        == audit_messages(masked.plan, masked.sent).file_bytes()
    )
    assert studies.result(study, number).silos_missing == ("dune",)
    assert studies.get(study).silo("dune").dropped


def test_the_list_closes_by_itself_when_all_numbers_are_there(studies, study, masked):
    assert studies.rounds.phase(study).name == "mask"
    send(studies, study, masked.mask("dune", vector(masked, 3)))

    assert studies.rounds.phase(study).name == "consent"
    assert set(studies.rounds.phase(study).request.survivors) == set(NAMES)


def test_there_is_one_request_whatever_comes_later(studies, study, masked):
    """Neither a second request nor a late silo changes who is in the sum."""
    late = masked.mask("dune", vector(masked, 3))
    studies.rounds.close_list(study)
    first = studies.rounds.phase(study).request

    with pytest.raises(ConflictError, match="goes on without"):
        send(studies, study, late)
    studies.rounds.close_list(study)
    assert studies.rounds.phase(study).request.digest == first.digest
    assert "dune" not in first.survivors


def test_a_list_below_the_threshold_is_refused(studies, study, shared):
    for place, silo in enumerate(NAMES[:2]):
        send(studies, study, shared.mask(silo, vector(shared, place)))

    with pytest.raises(MessageError, match="3"):
        studies.rounds.close_list(study)
    assert studies.rounds.phase(study).request is None


def test_an_equal_document_is_kept_once_and_another_one_refused(studies, study, rounds):
    first = published(rounds, "aurora")
    other = published(rounds, "aurora")

    assert send(studies, study, first, first) == [True, False]
    with pytest.raises(ConflictError, match="already sent another"):
        send(studies, study, other)


def test_a_document_of_another_silo_or_without_its_signature_is_refused(studies, study, rounds):
    message = published(rounds, "aurora")
    with pytest.raises(MessageError, match="another silo"):
        studies.receive(study, "bayside", message.to_bytes())
    unsigned = {name: value for name, value in message.to_dict().items() if name != "signature"}
    with pytest.raises(MessageError, match="sign"):
        studies.receive(study, "aurora", canonical_bytes(unsigned))


def test_a_step_before_its_time_is_refused(studies, study, rounds):
    rounds.share()
    with pytest.raises(MessageError, match="waits for the keys"):
        send(studies, study, rounds.of(SecureShares)[0])


def test_a_step_that_fits_no_other_is_refused_when_it_comes(studies, study, shared):
    """Shares and masked numbers of another round of the same silos."""
    other = Rounds(shared.plan, shared.keys).share()
    with pytest.raises(MessageError, match="another set of keys"):
        send(studies, study, other.of(SecureShares)[0])
    with pytest.raises(MessageError, match="another set of keys"):
        send(studies, study, other.mask("aurora", vector(shared, 0)))


def test_a_wrong_answer_is_refused_and_spoils_nothing(studies, study, masked):
    studies.rounds.close_list(study)
    request = studies.rounds.phase(study).request
    for silo in request.survivors:
        send(studies, study, masked.consent(silo, request))
    good = masked.answer("aurora", request)
    seeds = dict(good.seeds)
    seeds["aurora"], seeds["bayside"] = seeds["bayside"], seeds["aurora"]
    bad = sign(replace(good, seeds=seeds, signature=None), masked.keys["aurora"])

    with pytest.raises(MessageError):
        send(studies, study, bad)
    assert send(studies, study, good) == [True]


def test_a_plan_has_one_round_even_after_its_study_is_deleted(studies, study, rounds):
    with pytest.raises(OptionError, match="begun before"):
        studies.create(rounds.plan.to_toml(), deadline=None)
    delete_study(studies, study)
    with pytest.raises(OptionError, match="begun before"):
        studies.create(rounds.plan.to_toml(), deadline=None)


@pytest.mark.usefixtures("masked")
def test_nothing_of_a_round_is_reopened(studies, study):
    with pytest.raises(ConflictError):
        studies.reopen(study, "aurora")


def test_silos_get_what_all_see_and_nothing_of_the_auditor(store, studies, study, masked):
    client = TestClient(
        collector(store, address="", hosts=("127.0.0.1",), secure=False),
        base_url="http://127.0.0.1",
    )
    key = {"authorization": f"Bearer {studies.token(study, 'dune')}"}
    codes = {
        step: client.get(f"/api/round/{step}", headers=key)
        for step in ("keys", "shares", "request", "consent", "mask", "unmask", "sum", "..%2fmask")
    }

    lines = {step: len(answer.text.splitlines()) for step, answer in codes.items()}
    assert [lines[step] for step in ("keys", "shares", "request", "consent")] == [4, 4, 0, 0]
    assert {codes[step].status_code for step in ("mask", "unmask", "sum", "..%2fmask")} == {404}
    assert client.get("/api/round").status_code == 401
    assert client.get("/api/round", headers=key).json() == {
        "plan": masked.plan.digest,
        "silo": "dune",
        "phase": "mask",
        "came": 3,
        "needed": 3,
        "dropped": False,
    }


@pytest.mark.usefixtures("masked")
def test_a_study_knows_each_silos_step(studies, study):
    states = {silo.name: (silo.step, silo.state) for silo in studies.get(study).silos}

    assert states["aurora"] == ("mask", "received")
    assert states["dune"] == ("shares", "approved")
    assert studies.summaries()[0][4] == 3
