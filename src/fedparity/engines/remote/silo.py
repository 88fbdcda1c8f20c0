"""What a silo does when it is asked: its own settings decide, and the steps are those of files."""

from __future__ import annotations

from fedparity.engines.remote.settings import SiloSettings
from fedparity.engines.remote.silo_rounds import round_message
from fedparity.engines.remote.wording import Request
from fedparity.errors import AnsweredError, MessageError
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.message_checks import check_message
from fedparity.protocol.plan import Plan
from fedparity.releasing.release import Release, check_silo, release_records

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
