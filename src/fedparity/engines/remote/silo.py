"""What a silo does when it is asked: its own settings decide, and the steps are those of files."""

from __future__ import annotations

from fedparity.engines.remote.settings import SiloSettings
from fedparity.engines.remote.silo_rounds import round_message
from fedparity.engines.remote.wording import Request
from fedparity.errors import AnsweredError, MessageError
from fedparity.privacy.ledger import Ledger
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.message_checks import check_message
from fedparity.protocol.plan import Plan
from fedparity.releasing.noisy import spending_of
from fedparity.releasing.release import Release, release_records

__all__ = ["answer"]


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
    if settings.ledger is None:
        return _released(plan, settings).sketch.to_bytes()
    path = settings.kept(plan, "sketch.json")
    if path.exists():
        if not settings.again:
            raise AnsweredError.before(settings.silo, path)
        return _kept(plan, settings, SiloSketch.read(path))
    _refuse_second(plan, settings, settings.ledger)
    key = settings.signing_key()
    settings.use_ready(plan)
    release = _released(plan, settings)
    if key is not None:
        release = release.signed(key)
    check_message(plan, release.sketch)  # a wrong key is found here, not by the auditor
    release.write(path, ledger=settings.ledger)
    return release.sketch.to_bytes()


def _released(plan: Plan, settings: SiloSettings) -> Release:
    records = settings.records(plan)
    return release_records(records, plan=plan, silo=settings.silo, dataset=settings.dataset)


def _kept(plan: Plan, settings: SiloSettings, sketch: SiloSketch) -> bytes:
    """What left before, found to be this silo's answer to this plan."""
    check_message(plan, sketch)
    if sketch.silo != settings.silo:
        raise MessageError.not_the_silo(sketch.silo, settings.silo)
    return sketch.to_bytes()


def _refuse_second(plan: Plan, settings: SiloSettings, ledger: Ledger) -> None:
    """Raise before the data are read if the ledger would refuse the release."""
    spending = spending_of(plan, settings.dataset)
    if spending is not None:
        ledger.check_budget(plan.digest, settings.silo, spending)
    elif not settings.again:
        ledger.check(plan.digest, settings.silo, "")
