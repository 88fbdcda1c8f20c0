"""A silo's answers to the requests of an engine: the ledger and the disk know of them before they leave."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import numpy.typing as npt

from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.engines.pooled_table import PooledTable, read_pooled
from fedparity.engines.remote import ALLOWED
from fedparity.engines.remote.requests import Request
from fedparity.engines.remote.settings import Scalar, SiloSettings, reading_of
from fedparity.errors import AnsweredError, MessageError, SettingsError
from fedparity.modes.mode import mode_of
from fedparity.modes.secure.round_checks import Inbox, decode_round
from fedparity.modes.secure.round_messages import SiloRoundMessage
from fedparity.modes.secure.rounds import silo_step
from fedparity.modes.secure.secure_mode import SecureMode
from fedparity.modes.secure.silo_state import StateFile
from fedparity.tables.opening import in_columns

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
        permit_options=None,
        folder=Path(gettempdir()) / f"fedparity-simulation-{run_id}",
    )


@lru_cache(maxsize=1)
def _table(plan: Plan, shared: tuple[tuple[str, str], ...], _: int) -> PooledTable:
    """The table of all silos, read once in a run for all silos that this process simulates."""
    settings = dict(shared)
    data, silo = settings.pop("data"), settings.pop("silo", "silo")
    reading = in_columns(plan, reading_of(settings))
    return read_pooled(data, silo=silo, groups=plan.record_labels, **reading)


def round_message(request: Request, settings: SiloSettings) -> SiloRoundMessage:
    """Return the message of a step, after the new state is on disk.

    Raises
    ------
    AnsweredError
        If the step was made before; with ``again`` in the settings the same message is returned.
    RoundError, MessageError, LedgerError
        As the steps raise them.
    """
    plan, step = request.plan, request.step
    permit = settings.permit(plan)  # every step is refused, not only the third
    file = StateFile(settings.kept(plan, "secure-state"))

    def resend(sent: bool) -> bool:  # noqa: FBT001 -- as silo_step calls it
        before = sent or (step == "keys" and file.path.exists())
        if before and not settings.again:
            raise AnsweredError.before(settings.silo, file.path)
        return before

    def count() -> npt.NDArray[np.int64]:
        if permit is not None:
            permit.check()
        settings.use_ready(plan)
        return SecureMode(plan).vector(settings.records(plan))

    with silo_step(
        plan,
        settings.silo,
        step,
        file,
        inbox=lambda: Inbox(tuple(decode_round(each) for each in request.messages)),
        count=count,
        key=settings.signing_key,
        resend=resend,
    ) as message:
        if step == "mask" and permit is not None:
            permit.record(message)  # what the ledger refuses does not leave
        return message


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
    mode = mode_of(plan)
    mode.check(settings.silo, weighted=False)
    permit = settings.permit(plan)
    if permit is None:
        return mode.release(settings.records(plan), settings.silo).sketch.to_bytes()
    path = settings.kept(plan, "sketch.json")
    replaces = permit.voided()
    if replaces is None:
        found = None if path.exists() else permit.finish(path)
        if found is not None:
            return found.to_bytes()  # the answer that was not sent because of a crash
        sent = permit.standing()
        if (sent is not None or path.exists()) and not settings.again:
            raise AnsweredError.before(settings.silo, path)
        if path.exists():
            return _kept(plan, settings, SiloSketch.read(path))
    permit.check()
    key = settings.signing_key()
    settings.use_ready(plan)
    release = mode.release(settings.records(plan), settings.silo).replacing(replaces)
    if key is not None:
        release = release.signed(key)
    check_message(plan, release.sketch)  # a wrong key is found here, not by the auditor
    permit.write(path, release.sketch, force=replaces is not None)
    return release.sketch.to_bytes()


def _kept(plan: Plan, settings: SiloSettings, sketch: SiloSketch) -> bytes:
    """What left before, found to be this silo's answer to this plan."""
    check_message(plan, sketch)
    if sketch.silo != settings.silo:
        raise MessageError.not_the_silo(sketch.silo, settings.silo)
    return sketch.to_bytes()
