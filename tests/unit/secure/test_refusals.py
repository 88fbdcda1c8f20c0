"""Whatever disturbs a round is refused, by whoever sees it first, and the error says what it was."""

from dataclasses import replace

import pytest
from tests.secure_rounds import Rounds, answered, secure_plan, signing_keys, some_vectors

import fedparity as fp
from fedparity.documents.signing import generate_key, sign
from fedparity.errors import RoundError, SecureMessageError
from fedparity.modes.secure import silo_steps as steps
from fedparity.modes.secure.masking import public_key
from fedparity.modes.secure.round_checks import Inbox, check_round
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    SealedShares,
    SecureConsent,
    SecureKeys,
    SecureShares,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.modes.secure.round_progress import open_sum

PLAN = secure_plan(4)
VECTORS = some_vectors(PLAN)


@pytest.fixture
def shared():
    """A round in which all silos have published keys and shares."""
    return Rounds(PLAN).share()


@pytest.fixture
def uploaded(shared):
    """A round in which all silos have uploaded."""
    return shared.mask_all(VECTORS)


def replaced(rounds, old, new):
    """The same inbox with one message replaced."""
    return Inbox(tuple(new if each is old else each for each in rounds.sent))


def flipped(data):
    """The same bytes with one bit changed."""
    return bytes([data[0] ^ 1]) + data[1:]


# -- keys


def test_keys_are_needed_of_the_whole_roster():
    rounds = Rounds(PLAN)
    rounds.take(steps.publish_keys(PLAN, "aurora"))

    with pytest.raises(SecureMessageError, match="keys of 3 silos are missing: 'bayside'"):
        steps.share_secrets(PLAN, rounds.states["aurora"], rounds.inbox)


def test_a_silo_that_is_not_of_the_roster_takes_no_part():
    with pytest.raises(fp.errors.MessageError, match="'oak' is not among the 4 silos"):
        steps.publish_keys(PLAN, "oak")


def test_a_plan_without_a_secure_mode_has_no_rounds():
    plan = replace(PLAN, privacy=None)

    with pytest.raises(SecureMessageError, match="does not ask for a secure sum"):
        steps.publish_keys(plan, "aurora")


def test_a_silo_notices_that_its_own_keys_were_replaced():
    rounds = Rounds(PLAN)
    for silo in PLAN.silos:
        rounds.take(steps.publish_keys(PLAN, silo))
    swapped = steps.publish_keys(PLAN, "aurora").message
    inbox = replaced(rounds, rounds.sent[0], swapped)

    with pytest.raises(
        SecureMessageError, match="keys that were received for silo 'aurora' are not those"
    ):
        steps.share_secrets(PLAN, rounds.states["aurora"], inbox)


def test_silos_that_were_given_different_keys_do_not_go_on():
    """An auditor that swaps bayside's keys for one silo only is found out by all others."""
    rounds = Rounds(PLAN)
    for silo in PLAN.silos:
        rounds.take(steps.publish_keys(PLAN, silo))
    honest = rounds.inbox
    swapped = replaced(rounds, rounds.sent[1], steps.publish_keys(PLAN, "bayside").message)
    for silo in PLAN.silos:
        inbox = swapped if silo == "cedar" else honest
        rounds.take(steps.share_secrets(PLAN, rounds.states[silo], inbox))

    with pytest.raises(SecureMessageError, match="'cedar' belongs to another set of keys"):
        steps.make_ready(PLAN, rounds.states["aurora"], rounds.inbox)


def test_two_silos_cannot_have_the_same_key():
    rounds = Rounds(PLAN)
    for silo in PLAN.silos:
        rounds.take(steps.publish_keys(PLAN, silo))
    copied = replace(rounds.sent[1], mask_key=rounds.sent[0].mask_key)

    with pytest.raises(SecureMessageError, match="'aurora' and 'bayside' have published the same"):
        steps.share_secrets(
            PLAN, rounds.states["aurora"], replaced(rounds, rounds.sent[1], copied)
        )


def test_a_key_that_agrees_with_everybody_is_refused():
    """A point of small order gives the same secret to all: the masks would be known."""
    rounds = Rounds(PLAN)
    for silo in PLAN.silos:
        rounds.take(steps.publish_keys(PLAN, silo))
    weak = replace(rounds.sent[1], share_key=bytes(32))

    with pytest.raises(
        SecureMessageError, match="public key of silo 'bayside' cannot be used to agree"
    ):
        steps.share_secrets(PLAN, rounds.states["aurora"], replaced(rounds, rounds.sent[1], weak))


def test_two_different_keys_of_one_silo_are_refused(shared):
    again = steps.publish_keys(PLAN, "dune").message

    with pytest.raises(SecureMessageError, match="'dune' has two different keys"):
        steps.make_ready(PLAN, shared.states["aurora"], Inbox((*shared.sent, again)))


# -- shares


def test_a_changed_share_is_refused_before_anything_is_masked(shared):
    """One bit of what bayside sealed for aurora: aurora does not mask."""
    old = shared.of(SecureShares)[1]
    part = old.shares["aurora"]
    changed = replace(
        old, shares={**old.shares, "aurora": replace(part, sealed=flipped(part.sealed))}
    )

    with pytest.raises(
        SecureMessageError, match="share of silo 'bayside' for 'aurora' was changed"
    ):
        steps.make_ready(PLAN, shared.states["aurora"], replaced(shared, old, changed))


def test_a_share_that_its_commitment_does_not_fit_is_refused(shared):
    old = shared.of(SecureShares)[1]
    part = old.shares["aurora"]
    changed = replace(old, shares={**old.shares, "aurora": replace(part, seed=part.key)})

    with pytest.raises(
        SecureMessageError, match="share of silo 'bayside' for 'aurora' was changed"
    ):
        steps.make_ready(PLAN, shared.states["aurora"], replaced(shared, old, changed))


def test_shares_of_an_earlier_round_are_refused(shared):
    """Replayed shares name the keys of their own round."""
    earlier = Rounds(PLAN).share().of(SecureShares)[2]
    old = shared.of(SecureShares)[2]

    with pytest.raises(SecureMessageError, match="'cedar' belongs to another set of keys"):
        steps.make_ready(PLAN, shared.states["aurora"], replaced(shared, old, earlier))


def test_shares_of_another_plan_are_refused(shared):
    other = Rounds(secure_plan(4, review_level=0.5)).share().of(SecureShares)[2]
    old = shared.of(SecureShares)[2]

    with pytest.raises(fp.errors.MessageError, match="'cedar' answered another plan"):
        steps.make_ready(PLAN, shared.states["aurora"], replaced(shared, old, other))


def test_all_shares_are_needed(shared):
    inbox = Inbox(tuple(each for each in shared.sent if each is not shared.of(SecureShares)[3]))

    with pytest.raises(SecureMessageError, match="shares of 1 silos are missing: 'dune'"):
        steps.make_ready(PLAN, shared.states["aurora"], inbox)


def test_shares_for_fewer_silos_are_refused(shared):
    old = shared.of(SecureShares)[1]
    fewer = replace(old, shares={silo: old.shares[silo] for silo in ("aurora", "cedar")})

    with pytest.raises(SecureMessageError, match="not for the silos of the plan"):
        steps.make_ready(PLAN, shared.states["aurora"], replaced(shared, old, fewer))


def test_secrets_are_shared_once(shared):
    with pytest.raises(RoundError, match="already sent its shares"):
        steps.share_secrets(PLAN, shared.states["aurora"], shared.inbox)


# -- masked vectors


def test_a_second_vector_is_refused(uploaded):
    """Two vectors under the same masks differ by what changed in the table."""
    with pytest.raises(RoundError, match="already sent its mask in this round"):
        uploaded.mask("aurora", VECTORS["aurora"] + 1)


def test_a_second_vector_is_refused_even_if_all_was_made_ready_before(shared):
    ready = steps.make_ready(PLAN, shared.states["aurora"], shared.inbox)
    first = steps.mask(PLAN, shared.states["aurora"], ready, VECTORS["aurora"])

    with pytest.raises(RoundError, match="already sent its mask in this round"):
        steps.mask(PLAN, first.state, ready, VECTORS["aurora"] + 1)


def test_a_vector_comes_after_the_shares():
    rounds = Rounds(PLAN)
    rounds.take(steps.publish_keys(PLAN, "aurora"))

    with pytest.raises(RoundError, match="run fedparity secure shares first") as caught:
        steps.make_ready(PLAN, rounds.states["aurora"], rounds.inbox)
    assert "shares" in caught.value.fix


def test_a_vector_of_another_length_is_refused(shared):
    with pytest.raises(SecureMessageError, match="has 4 numbers"):
        shared.mask("aurora", VECTORS["aurora"][:4])


def test_a_replayed_vector_of_an_earlier_round_is_refused(uploaded):
    earlier = Rounds(PLAN).share().mask_all(VECTORS).of(MaskedVector)[1]
    old = uploaded.of(MaskedVector)[1]

    with pytest.raises(SecureMessageError, match="'bayside' belongs to another set of keys"):
        open_sum(PLAN, replaced(uploaded, old, earlier))


def test_a_changed_vector_is_not_the_one_that_the_request_names(uploaded):
    """Nothing but the digests in the request protects a vector where the plan has no keys."""
    request = uploaded.request()
    for silo in PLAN.silos:
        uploaded.answer(silo, request)
    old = uploaded.of(MaskedVector)[0]
    changed = replace(old, vector=flipped(old.vector))

    with pytest.raises(SecureMessageError, match="'aurora' is not the one that the request names"):
        open_sum(PLAN, replaced(uploaded, old, changed))


# -- the request


def test_a_request_below_the_threshold_is_not_answered(uploaded):
    request = uploaded.request()
    short = replace(request, survivors=dict(list(request.survivors.items())[:2]))

    with pytest.raises(
        RoundError, match="would open the sum of 2 silos; the plan's threshold is 3"
    ):
        uploaded.answer("aurora", short)


def test_a_request_that_leaves_a_silo_out_is_not_answered_by_it(uploaded):
    """It would help to rebuild its own mask key; the others can answer without it."""
    request = uploaded.request()
    without = {silo: each for silo, each in request.survivors.items() if silo != "aurora"}

    with pytest.raises(RoundError, match="says that silo 'aurora' dropped out"):
        uploaded.answer("aurora", replace(request, survivors=without))


def test_a_request_that_names_another_upload_is_not_answered(uploaded):
    request = uploaded.request()
    other = {**request.survivors, "aurora": request.survivors["bayside"]}

    with pytest.raises(RoundError, match="names another masked vector of silo 'aurora'"):
        uploaded.answer("aurora", replace(request, survivors=other))


def test_a_request_of_another_round_is_not_answered(uploaded):
    other = Rounds(PLAN).share().mask_all(VECTORS).request()

    with pytest.raises(RoundError, match="belongs to another set of keys"):
        uploaded.answer("aurora", other)


def test_a_request_for_a_stranger_is_not_answered(uploaded):
    request = uploaded.request()
    stranger = {**request.survivors, "oak": request.survivors["aurora"]}

    with pytest.raises(fp.errors.MessageError, match="'oak' is not among"):
        uploaded.answer("aurora", replace(request, survivors=stranger))


def test_a_second_request_is_not_answered(uploaded):
    """All four, then three: both kinds of shares of the fourth silo would show its vector."""
    request = uploaded.request()
    uploaded.answer("aurora", request)
    fewer = {silo: each for silo, each in request.survivors.items() if silo != "dune"}

    with pytest.raises(RoundError, match="already answered another unmask request"):
        uploaded.answer("aurora", replace(request, survivors=fewer))


def test_the_same_request_is_answered_once(uploaded):
    request = uploaded.request()
    uploaded.answer("aurora", request)

    with pytest.raises(RoundError, match="already sent its unmask"):
        uploaded.answer("aurora", request)


def test_a_request_is_answered_only_by_a_silo_that_uploaded(shared):
    some = {silo: VECTORS[silo] for silo in ("aurora", "bayside", "cedar")}
    request = shared.mask_all(some).request()

    with pytest.raises(RoundError, match="run fedparity secure mask first"):
        shared.answer("dune", request)


def test_an_answer_never_holds_both_shares_of_one_silo(uploaded):
    request = uploaded.request()
    answer = uploaded.answer("aurora", request)

    with pytest.raises(SecureMessageError, match="of different silos"):
        replace(answer, keys={"dune": answer.seeds["dune"]})


# -- answers


def test_a_changed_share_of_a_seed_is_found_and_its_sender_named(uploaded):
    request = uploaded.request()
    for silo in PLAN.silos:
        uploaded.answer(silo, request)
    old = uploaded.of(UnmaskAnswer)[2]
    changed = replace(old, seeds={**old.seeds, "aurora": flipped(old.seeds["aurora"])})

    with pytest.raises(SecureMessageError, match="'cedar' answered with a share of silo 'aurora'"):
        open_sum(PLAN, replaced(uploaded, old, changed))


def test_a_changed_share_of_a_key_is_found_and_its_sender_named():
    some = {silo: VECTORS[silo] for silo in ("aurora", "bayside", "cedar")}
    rounds = answered(PLAN, some)
    old = rounds.of(UnmaskAnswer)[1]
    changed = replace(old, keys={"dune": flipped(old.keys["dune"])})

    with pytest.raises(SecureMessageError, match="'bayside' answered with a share of silo 'dune'"):
        open_sum(PLAN, replaced(rounds, old, changed))


def test_shares_that_never_fitted_together_are_found():
    """A silo that committed to another seed than it shared is named."""
    rounds = Rounds(PLAN).share()
    old = rounds.of(SecureShares)[0]
    lying = replace(old, commitment=old.shares["cedar"].seed)
    rounds.sent[rounds.sent.index(old)] = lying
    rounds.states["aurora"] = rounds.states["aurora"].after("shares", lying)
    request = rounds.mask_all(VECTORS).request()
    for silo in PLAN.silos:
        rounds.answer(silo, request)

    with pytest.raises(SecureMessageError, match="shares of silo 'aurora' do not give the secret"):
        open_sum(PLAN, rounds.inbox)


def test_an_answer_to_another_request_is_refused(uploaded):
    request = uploaded.request()
    for silo in PLAN.silos:
        uploaded.answer(silo, request)
    old = uploaded.of(UnmaskAnswer)[0]

    with pytest.raises(SecureMessageError, match="'aurora' answered another request"):
        open_sum(PLAN, replaced(uploaded, old, replace(old, request=PLAN.digest)))


def test_the_sum_needs_one_request(uploaded):
    with pytest.raises(SecureMessageError, match="no unmask request"):
        open_sum(PLAN, uploaded.inbox)

    request = uploaded.request()
    fewer = {silo: each for silo, each in request.survivors.items() if silo != "dune"}
    both = Inbox((*uploaded.sent, replace(request, survivors=fewer)))
    with pytest.raises(SecureMessageError, match="two different requests"):
        open_sum(PLAN, both)


# -- signatures


@pytest.fixture
def signed():
    """A round of a plan with keys, in which all silos have uploaded."""
    keys = signing_keys(4)
    plan = secure_plan(4, keys=keys)
    return Rounds(plan, keys).share().mask_all(some_vectors(plan))


def test_a_silo_without_its_key_sends_nothing(signed):
    with pytest.raises(fp.errors.SignatureError, match="'aurora' is not signed"):
        steps.publish_keys(signed.plan, "aurora")


def test_a_silo_with_a_wrong_key_sends_nothing(signed):
    with pytest.raises(fp.errors.SignatureError, match="signature of silo 'aurora' does not fit"):
        steps.publish_keys(signed.plan, "aurora", key=generate_key())
    with pytest.raises(fp.errors.SignatureError, match="signed with the key of silo 'bayside'"):
        steps.publish_keys(signed.plan, "aurora", key=signed.keys["bayside"])


def test_a_signature_of_one_kind_of_message_fits_no_other(signed):
    keys = signed.of(SecureKeys)[0]
    consent = SecureConsent(
        plan=keys.plan, silo=keys.silo, request=keys.plan, software=keys.software
    )

    with pytest.raises(fp.errors.SignatureError):
        check_round(signed.plan, replace(consent, signature=keys.signature))


def test_nobody_answers_before_a_threshold_has_signed_the_same_list(signed):
    request = signed.request()
    signed.consent("aurora", request)
    signed.consent("bayside", request)

    with pytest.raises(RoundError, match="2 silos have signed this very list of survivors; 3 are"):
        signed.answer("aurora", request)
    signed.consent("cedar", request)
    signed.answer("aurora", request)


def test_a_silo_answers_only_what_it_has_signed(signed):
    """The auditor shows one list to sign and another one to answer."""
    request = signed.request()
    for silo in signed.plan.silos:
        signed.consent(silo, request)
    fewer = {silo: each for silo, each in request.survivors.items() if silo != "dune"}

    with pytest.raises(RoundError, match="already answered another unmask request"):
        signed.answer("aurora", replace(request, survivors=fewer))


def test_different_lists_for_different_silos_open_nothing(signed):
    """Two lists, shown to two silos each: neither reaches a threshold of signatures."""
    request = signed.request()
    fewer = {silo: each for silo, each in request.survivors.items() if silo != "dune"}
    other = replace(request, survivors=fewer)
    for silo in ("aurora", "bayside"):
        signed.consent(silo, request)
    signed.consent("cedar", other)

    for silo, shown in (("aurora", request), ("bayside", request), ("cedar", other)):
        with pytest.raises(RoundError, match="have signed this very list"):
            signed.answer(silo, shown)


def test_a_silo_signs_one_list(signed):
    request = signed.request()
    signed.consent("aurora", request)

    with pytest.raises(RoundError, match="already sent its consent"):
        signed.consent("aurora", request)


def test_a_signed_round_opens(signed):
    request = signed.request()
    for silo in signed.plan.silos:
        signed.consent(silo, request)
    for silo in signed.plan.silos:
        signed.answer(silo, request)

    found = open_sum(signed.plan, signed.inbox)

    assert found.vector.tolist() == sum(some_vectors(signed.plan).values()).tolist()


def test_an_unsigned_answer_is_refused_where_the_plan_has_keys(signed):
    request = signed.request()
    for silo in signed.plan.silos:
        signed.consent(silo, request)
    for silo in signed.plan.silos:
        signed.answer(silo, request)
    old = signed.of(UnmaskAnswer)[0]

    with pytest.raises(fp.errors.SignatureError, match="not signed"):
        open_sum(signed.plan, replaced(signed, old, replace(old, signature=None)))


def test_consents_of_strangers_do_not_count(signed):
    request = signed.request()
    signed.consent("aurora", request)
    made = SecureConsent(
        plan=signed.plan.digest, silo="bayside", request=request.digest, software="x 1"
    )
    signed.sent.append(sign(made, generate_key()))

    with pytest.raises(fp.errors.SignatureError, match="'bayside'"):
        signed.answer("aurora", request)


# -- what is never shown


def test_secrets_are_in_no_text(uploaded):
    state = uploaded.states["aurora"]
    for secret in (state.seed, state.mask_secret, state.share_secret):
        for shown in (repr(state), str(state), repr(uploaded.sent), repr(state.held["dune"])):
            assert secret.hex() not in shown
            assert repr(secret) not in shown


def test_secrets_are_forgotten_with_the_answer(uploaded):
    """A state that is read after the round takes no mask off; its messages can be sent again."""
    request = uploaded.request()
    uploaded.answer("aurora", request)
    state = uploaded.states["aurora"]

    assert {state.seed, state.mask_secret, state.share_secret} == {bytes(32)}
    assert not state.held
    assert set(state.sent) == {"keys", "shares", "mask", "unmask"}


def test_published_keys_are_those_of_the_secrets(shared):
    state, keys = shared.states["aurora"], shared.of(SecureKeys)[0]

    assert keys.mask_key == public_key(state.mask_secret)
    assert keys.share_key == public_key(state.share_secret)


def test_sealed_shares_and_requests_say_what_they_are():
    sealed = SealedShares(sealed=b"1", seed="a", key="b")
    assert sealed.to_dict() == {"sealed": "MQ==", "seed": "a", "key": "b"}
    request = UnmaskRequest(
        plan=PLAN.digest,
        key_set=PLAN.digest,
        share_set=PLAN.digest,
        survivors={"aurora": PLAN.digest},
        software="x 1",
    )
    assert repr(request).startswith("UnmaskRequest(sha256:")
