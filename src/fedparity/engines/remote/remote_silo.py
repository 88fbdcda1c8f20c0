"""A silo's steps of a secure sum, when it is asked for them: its state is on disk before it answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir

from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.engines.pooled_table import PooledTable, read_pooled
from fedparity.engines.remote import ALLOWED
from fedparity.engines.remote.requests import Request
from fedparity.engines.remote.settings import Scalar, SiloSettings, reading_of
from fedparity.errors import (
    AnsweredError,
    MessageError,
    RoundStateError,
    SettingsError,
    SignatureError,
)
from fedparity.modes.secure.round_checks import Inbox, decode_round, one_request
from fedparity.modes.secure.round_messages import SiloRoundMessage
from fedparity.modes.secure.silo_state import RoundState, StateFile
from fedparity.modes.secure.silo_steps import (
    Step,
    answer_request,
    consent,
    make_ready,
    mask,
    publish_keys,
    share_secrets,
)
from fedparity.silo.permit import Permit
from fedparity.silo.release import Release, check_silo, release_records
from fedparity.silo.secure_release import committed_mask, count_records, silo_vector

__all__ = [
    "PREFIX",
    "answer",
    "may_simulate",
    "round_message",
    "simulated_settings",
]

def may_simulate() -> bool:
    """Return whether the variable is set, to 1 and nothing else."""
    return os.environ.get(ALLOWED) == "1"


PREFIX = "simulated-"
"""What the settings of all simulated silos begin with in the configuration of a run."""


def simulated_settings(
    plan: Plan, position: int, run: Mapping[str, Scalar], run_id: int
) -> SiloSettings:
    """Return the settings of one silo of a simulation: the plan's roster says which it is.

    Its records are those rows of the table ``simulated-data`` that name it in the column
    ``simulated-silo``. No ledger is kept.

    Raises
    ------
    SettingsError
        If the run simulates no silos, there is none at this position, or it has no rows.
    """
    shared = {key.removeprefix(PREFIX): str(run[key]) for key in run if key.startswith(PREFIX)}
    silos = plan.silos or ()
    if not may_simulate():
        raise SettingsError.not_simulated("it was not started for a simulation")
    if not shared.get("data"):
        raise SettingsError.not_simulated("its configuration has no simulated-data")
    if not 0 <= position < len(silos):
        raise SettingsError.not_simulated(f"the plan has {len(silos)} silos")
    chosen = tuple(sorted((key, value) for key, value in shared.items() if value))
    table = _table(plan, chosen, run_id)
    silo = silos[position]
    if silo not in table.silos:
        raise SettingsError.not_simulated(f"the table has no rows of {silo!r}")
    return SiloSettings(
        silo=silo,
        approved=None,
        data=table.records(table.silos.index(silo)),
        reading={},
        law=None,
        folder=Path(gettempdir()) / f"fedparity-simulation-{run_id}",
    )


@lru_cache(maxsize=1)
def _table(plan: Plan, shared: tuple[tuple[str, str], ...], _: int) -> PooledTable:
    """The table of all silos, read once in a run for as many of them as this process simulates."""
    settings = dict(shared)
    data, silo = settings.pop("data"), settings.pop("silo", "silo")
    return read_pooled(data, silo=silo, groups=plan.groups, **reading_of(settings))


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


def answer(request: Request, settings: SiloSettings) -> bytes:
    """Return the message that a silo sends, after the ledger and the disk know of it.

    Raises
    ------
    ApprovalError
        If the plan is not the one the silo's operator agreed to.
    AnsweredError, LedgerError
        If the silo answered before. With ``again`` in its settings it sends the same bytes.
    FedparityError
        As the steps of files raise them.
    """
    plan = request.plan
    settings.check_approved(plan)
    if request.step == "sketch":
        return _sketch(plan, settings)
    return round_message(request, settings).to_bytes()


def _sketch(plan: Plan, settings: SiloSettings) -> bytes:
    check_silo(plan, settings.silo)
    permit = settings.permit(plan)
    if permit is None:
        return _released(plan, settings).sketch.to_bytes()
    path = settings.kept(plan, "sketch.json")
    replaces = permit.voided()
    if replaces is None:
        found = None if path.exists() else permit.finish(path)
        if found is not None:
            return found.to_bytes()  # the answer that a crash held back
        sent = permit.standing()
        if (sent is not None or path.exists()) and not settings.again:
            raise AnsweredError.before(settings.silo, path)
        if path.exists():
            return _kept(plan, settings, SiloSketch.read(path))
    permit.check()
    key = settings.signing_key()
    settings.use_ready(plan)
    release = _released(plan, settings).replacing(replaces)
    if key is not None:
        release = release.signed(key)
    check_message(plan, release.sketch)  # a wrong key is found here, not by the auditor
    release.write(path, permit=permit, force=replaces is not None)
    return release.sketch.to_bytes()


def _released(plan: Plan, settings: SiloSettings) -> Release:
    return release_records(settings.records(plan), plan=plan, silo=settings.silo)


def _kept(plan: Plan, settings: SiloSettings, sketch: SiloSketch) -> bytes:
    """What left before, found to be this silo's answer to this plan."""
    check_message(plan, sketch)
    if sketch.silo != settings.silo:
        raise MessageError.not_the_silo(sketch.silo, settings.silo)
    return sketch.to_bytes()
