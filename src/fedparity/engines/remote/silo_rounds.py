"""A silo's steps of a secure sum, when it is asked for them: its state is on disk before it answers."""

from __future__ import annotations

from fedparity.engines.remote.settings import SiloSettings
from fedparity.engines.remote.wording import Request
from fedparity.errors import AnsweredError, RoundStateError, SignatureError
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.reading import Inbox, decode_round, one_request
from fedparity.protocol.secure.round_message import SiloRoundMessage
from fedparity.releasing.permit import Permit
from fedparity.releasing.secure.answering import answer_request, consent
from fedparity.releasing.secure.leaving import committed_mask
from fedparity.releasing.secure.numbers import count_records, silo_vector
from fedparity.releasing.secure.state import RoundState
from fedparity.releasing.secure.state_file import StateFile
from fedparity.releasing.secure.step import Step
from fedparity.releasing.secure.steps import make_ready, mask, publish_keys, share_secrets

__all__ = ["round_message"]


def round_message(request: Request, settings: SiloSettings) -> SiloRoundMessage:
    """Return the message of a step, after the state that says so is on disk.

    Raises
    ------
    AnsweredError
        If the step was made before; with ``again`` in the settings the same message is returned.
    RoundError, MessageError, LedgerError
        As the steps raise them.
    """
    permit = settings.permit(request.plan)  # every step is refused, not only the third
    plan, file = request.plan, StateFile(settings.kept(request.plan, "secure-state"))
    if request.step == "keys":
        return _first(plan, settings, file)
    with file.held() as state:
        _check_own(state, plan, settings, file)
        if request.step in state.sent:
            if not settings.again:
                raise AnsweredError.before(settings.silo, file.path)
            message = state.sent_again(request.step)
        else:
            made = _step(request, settings, state, permit)
            file.replace(made.state)
            message = made.message
        if request.step == "mask" and permit is not None:
            with committed_mask(message, permit):  # what the ledger refuses does not leave
                pass
        return message


def _first(plan: Plan, settings: SiloSettings, file: StateFile) -> SiloRoundMessage:
    if file.path.exists():
        if not settings.again:
            raise AnsweredError.before(settings.silo, file.path)
        with file.held() as state:
            _check_own(state, plan, settings, file)
            return state.sent_again("keys")
    made = publish_keys(plan, settings.silo, key=settings.signing_key())
    file.create(made.state)
    return made.message


def _check_own(state: RoundState, plan: Plan, settings: SiloSettings, file: StateFile) -> None:
    """Raise if a file of this name is of another round, or of a silo whose name is alike."""
    if (state.plan, state.silo) != (plan.digest, settings.silo):
        raise RoundStateError.other_plan(file.path)


def _step(
    request: Request, settings: SiloSettings, state: RoundState, permit: Permit | None
) -> Step:
    plan, key = request.plan, settings.signing_key()
    inbox = Inbox(tuple(decode_round(each) for each in request.messages))
    if request.step == "shares":
        return share_secrets(plan, state, inbox, key=key)
    if request.step == "mask":
        ready = make_ready(plan, state, inbox)  # all is in order before the table is opened
        if permit is not None:
            permit.check()
        settings.use_ready(plan)
        vector = silo_vector(plan, count_records(plan, settings.records(plan)))
        return mask(plan, state, ready, vector, key=key)
    if request.step == "consent":
        if key is None:
            raise SignatureError.unsigned(settings.silo)
        return consent(plan, state, one_request(inbox), key=key)
    return answer_request(plan, state, one_request(inbox), inbox, key=key)
