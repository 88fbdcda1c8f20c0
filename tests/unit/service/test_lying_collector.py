"""A collector that lies to the silos of a secure sum learns no second sum, and no silo's numbers."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.secure_rounds import SILOS, secure_plan, signing_keys

from fedparity.errors import (
    CollectorUnreachableError,
    FedparityError,
    MessageError,
    RoundError,
    SecureMessageError,
)
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import Inbox, decode_round
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    SecureConsent,
    SecureKeys,
    SecureShares,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.modes.secure.rounds import MemoryState, silo_step
from fedparity.service.round_follower import follow_round
from fedparity.service.sender import Sent
from fedparity.service.store import Store
from fedparity.service.studies import Studies

NAMES = SILOS[:4]


class Collector:
    """A collector in this process, whose answers to a silo may be changed on their way."""

    def __init__(self, store, keys):
        self.keys, self.plan = keys, secure_plan(keys=keys)
        self.studies = Studies(store)
        self.study = self.studies.create(self.plan.to_toml(), deadline=None)
        self.lies = {}
        """By silo and step: what the silo gets, from what it should get."""
        self.states = {silo: MemoryState() for silo in NAMES}
        self.takes_anything = False
        """Whether it takes signatures and answers without a check, as one would that wants two sums."""
        self.heard = []
        """Everything that silos sent, also what a collector would refuse."""

    def contents(self, silo, step):
        """The documents of a step as a silo gets them."""
        rounds = self.studies.rounds
        true = [decode_round(data) for data in rounds.contents(self.study, step)]
        lie = self.lies.get((silo, step), lambda documents: documents)
        return b"".join(each.to_bytes() + b"\n" for each in lie(true))

    def take_part(self, *silos, timeout=1.0):
        """Let silos do all they do, at once; return the error with which each of them ended."""
        ended = {}

        def run(silo):
            try:
                follow_round(
                    Way(self, silo),
                    self.plan,
                    silo,
                    self._steps(silo),
                    timeout=timeout,
                    tell=lambda _: None,
                )
            except FedparityError as error:
                ended[silo] = error
            else:
                ended[silo] = None

        threads = [threading.Thread(target=run, args=[silo]) for silo in silos]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ended

    def _steps(self, silo):
        vector = np.arange(Layout.of(self.plan).length) + NAMES.index(silo)
        state = self.states[silo]

        def make(step, inbox):
            return silo_step(
                self.plan,
                silo,
                step,
                state,
                inbox=inbox,
                count=lambda: vector,
                key=lambda: self.keys[silo],
                resend=lambda sent: sent or (step == "keys" and state._state is not None),  # noqa: SLF001
            )

        return make

    def inbox(self):
        """What came, each once."""
        return Inbox(tuple({each.digest: each for each in self.heard}.values()))

    def answers(self):
        """Whose answers came, by the digest of the request that they answer."""
        found = {}
        for message in self.heard:
            if isinstance(message, UnmaskAnswer):
                found.setdefault(message.request, set()).add(message.silo)
        return found


class Way:
    """What a silo takes for a connection."""

    def __init__(self, collector, silo):
        self._collector, self._silo = collector, silo

    def call(self, _, path, longest=0):
        """Answer a question about the round."""
        del longest
        c = self._collector
        if path != "/api/round":
            return 200, c.contents(self._silo, path.rpartition("/")[2])
        c.studies.rounds.advance(c.study)
        phase = c.studies.rounds.phase(c.study)
        standing = {"plan": c.plan.digest, "silo": self._silo, "phase": phase.name}
        standing |= {"came": phase.came, "needed": phase.needed, "dropped": False}
        standing |= c.lies.get((self._silo, "standing"), dict)()
        return 200, json.dumps(standing).encode()

    def send(self, data):
        """Take a document."""
        c = self._collector
        c.heard.append(decode_round(data))
        if c.takes_anything and not isinstance(
            c.heard[-1], SecureKeys | SecureShares | MaskedVector
        ):
            return Sent(c.heard[-1].digest, new=True)
        receipt = c.studies.receive(c.study, self._silo, data)
        return Sent(receipt.digest, new=receipt.new)


@pytest.fixture
def collector(tmp_path):
    store = Store.in_folder(str(tmp_path))
    yield Collector(store, signing_keys())
    store.close()


def without(silo):
    """The same request, as if a silo had dropped out."""

    def lie(documents):
        return [
            replace(each, survivors={s: d for s, d in each.survivors.items() if s != silo})
            if isinstance(each, UnmaskRequest)
            else each
            for each in documents
        ]

    return lie


def test_an_honest_collector_gets_the_answers_of_all(collector):
    assert set(collector.take_part(*NAMES, timeout=60).values()) == {None}
    assert [len(silos) for silos in collector.answers().values()] == [4]


def test_two_lists_for_two_halves_open_neither(collector):
    """Each list needs the signatures of more than two thirds, and a silo signs one."""

    def consents(_):
        return collector.inbox().of_kind(SecureConsent)

    def standing():
        if not collector.inbox().of_kind(SecureConsent):
            return {}
        return {"phase": "done" if len(consents(None)) == len(NAMES) else "consent"}

    collector.takes_anything = True
    for silo in NAMES:
        collector.lies[silo, "consent"] = consents
        collector.lies[silo, "standing"] = standing
    for silo in ("cedar", "aurora"):
        collector.lies[silo, "request"] = without("dune")
    ended = collector.take_part(*NAMES, timeout=20)

    assert len({each.request for each in consents(None)}) == 2
    assert collector.answers() == {}
    assert {type(error) for error in ended.values()} == {RoundError}


def test_one_silo_with_another_list_answers_nothing(collector):
    """The others open the true sum; the one that was lied to gives no share that would tell dune's numbers."""
    collector.lies["cedar", "request"] = without("dune")
    collector.lies["cedar", "standing"] = lambda: {"phase": "unmask"} if asked() else {}

    def asked():
        return collector.studies.rounds.phase(collector.study).request is not None

    ended = collector.take_part(*NAMES, timeout=20)
    true = collector.studies.rounds.phase(collector.study).request

    assert set(collector.answers()) == {true.digest}
    assert "cedar" not in collector.answers()[true.digest]
    assert isinstance(ended["cedar"], MessageError)
    assert [ended[silo] for silo in ("aurora", "bayside", "dune")] == [None] * 3


def test_a_list_that_is_swapped_after_it_was_signed_is_not_answered(collector):
    asked = []

    def swapped(documents):
        asked.append(1)
        return documents if len(asked) == 1 else without("dune")(documents)

    collector.lies["cedar", "request"] = swapped
    ended = collector.take_part(*NAMES, timeout=20)

    assert isinstance(ended["cedar"], RoundError)
    assert len(collector.answers()) == 1


def test_a_list_shorter_than_the_threshold_is_not_signed(collector):
    collector.lies["cedar", "request"] = lambda documents: without("dune")(
        without("bayside")(documents)
    )
    ended = collector.take_part(*NAMES, timeout=20)

    assert isinstance(ended["cedar"], RoundError)
    assert "threshold" in ended["cedar"].message


@pytest.mark.parametrize("step", ["keys", "shares"])
def test_documents_of_another_round_are_refused_before_a_table_is_read(collector, tmp_path, step):
    """An old round is played again to one silo, so that its masks would be known."""
    store = Store.in_folder(str(tmp_path / "old"))
    old = Collector(store, collector.keys)
    old.take_part(*NAMES, timeout=60)
    store.close()
    collector.lies["cedar", step] = lambda _: old_documents
    old_documents = [each for each in old.heard if type(each).__name__ == f"Secure{step.title()}"]
    ended = collector.take_part(*NAMES)

    assert isinstance(ended["cedar"], SecureMessageError)
    assert "mask" not in collector.states["cedar"]._state.sent  # noqa: SLF001


def test_a_silo_that_is_asked_again_sends_the_very_same_and_nothing_new(collector):
    collector.take_part(*NAMES, timeout=60)
    before = {message.digest for message in collector.heard}
    collector.take_part(*NAMES, timeout=60)

    assert {message.digest for message in collector.heard} == before


def test_a_collector_that_hides_a_silo_gets_no_list_without_it_later(collector):
    """The list is closed without dune; then dune's numbers are added to a second list."""
    collector.take_part(*NAMES[:3], timeout=0)
    collector.lies["dune", "standing"] = dict
    ended = collector.take_part(*NAMES, timeout=60)
    first = collector.studies.rounds.phase(collector.study).request
    for silo in NAMES:
        collector.lies[silo, "request"] = without("dune")
    collector.take_part(*NAMES, timeout=1)

    assert set(ended.values()) == {None}
    assert set(collector.answers()) == {first.digest}


@pytest.mark.parametrize(
    "standing",
    [
        {"phase": "nothing"},
        {"phase": None},
        {"phase": "keys", "came": None, "needed": None},
        {"phase": "keys", "dropped": "no"},
        {"phase": ["keys"]},
        {"came": "\x1b[2J", "needed": None, "phase": "keys", "dropped": None},
        {"plan": "sha256:0"},
        {"silo": "bayside"},
    ],
)
def test_a_standing_that_is_none_ends_in_an_error_that_is_said(collector, standing):
    collector.lies["cedar", "standing"] = lambda: standing
    said = collector.take_part("cedar", timeout=0)["cedar"]

    assert isinstance(said, MessageError | CollectorUnreachableError)
    assert "\x1b" not in str(said)


def test_documents_that_are_none_end_in_an_error_that_is_said(collector):
    for junk in (b"{}\n", b"\xff\n", b"[" * 10_000, b'{"schema": 1}\n'):
        collector.contents = lambda *_, junk=junk: junk
        said = collector.take_part(*NAMES, timeout=5)

        assert all(isinstance(error, MessageError) for error in said.values())
        assert Inbox(()).of_kind(UnmaskRequest) == []
