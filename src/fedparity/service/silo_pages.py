"""A silo's page, and the door through which its programs send and follow a secure sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from fedparity.documents.files import file_name
from fedparity.errors import ConflictError, FedparityError, OptionError
from fedparity.errors.base import listed
from fedparity.modes.mode import mode_of
from fedparity.page.build_page import build_page, policy_of
from fedparity.page.page_plan import page_plan
from fedparity.service import access
from fedparity.service.access import Credential
from fedparity.service.desk import Desk, own, problem
from fedparity.service.limits import RateLimit
from fedparity.service.secure_relay import PUBLIC_STEPS

__all__ = ["SiloPages"]


class SiloPages:
    """What a silo's people and programs see."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._reads = RateLimit(rate=5, burst=100)

    async def silo(self, _: Request, session: Credential) -> Response:
        """The plan in plain words, what would leave, and the state of the own message."""
        await run_sync(self.desk.studies.mark, *own(session), "seen")
        return await self._silo_page(session)

    async def _silo_page(
        self,
        session: Credential,
        status: int = 200,
        **more: Any,  # noqa: ANN401
    ) -> Response:
        study = await run_sync(
            partial(self.desk.studies.get, session.study or "", only=session.silo)
        )
        if study is None or not study.silos:
            return self.desk.stranger()
        values: dict[str, Any] = {"token": None, "error": None, "receipt": None} | more
        return self.desk.page(
            "silo.html",
            status=status,
            session=session,
            study=study,
            silo=study.silos[0],
            described=mode_of(study.plan).describe(),
            message=f"{file_name(study.silos[0].name)}.sketch.json",
            address=self.desk.address,
            can_sketch=not page_plan(study.plan)["declined"],
            **values,
        )

    async def sketching(self, _: Request, session: Credential) -> Response:
        """The page that sketches in the browser; it cannot send anything, not even to the collector."""
        study = await run_sync(self.desk.studies.get, own(session)[0])
        if study is None or page_plan(study.plan)["declined"]:
            return self.desk.stranger()
        page = await run_sync(build_page, study.plan)
        return HTMLResponse(page, headers={"content-security-policy": policy_of(page)})

    async def approve(self, _: Request, session: Credential) -> Response:
        """Record that the silo agrees to the plan."""
        await run_sync(self.desk.studies.mark, *own(session), "approved")
        return RedirectResponse("/silo", 303)

    async def token(self, _: Request, session: Credential) -> Response:
        """Make a token for the silo's program, shown once."""
        made = await run_sync(self.desk.studies.token, *own(session))
        return await self._silo_page(session, token=made)

    async def upload(self, request: Request, session: Credential) -> Response:
        """Take a message from the browser."""
        file = (await request.form()).get("message")
        data = await file.read() if isinstance(file, UploadFile) else b""
        try:
            receipt = await run_sync(self.desk.studies.receive, *own(session), data)
        except FedparityError as error:
            return await self._silo_page(session, error=error, status=422)
        return await self._silo_page(session, receipt=receipt)

    async def send(self, request: Request) -> Response:
        """Take a message from a program."""
        data = await request.body()
        return await run_sync(
            self._with_token, request, self.desk.allows_silo, partial(self._take, data)
        )

    async def round(self, request: Request) -> Response:
        """How far a secure sum has come, for a silo's program."""
        return await run_sync(self._with_token, request, self._may_read, self._standing)

    async def round_documents(self, request: Request) -> Response:
        """The documents of a step of a secure sum that all silos see, one on each line."""
        step = request.path_params["step"]
        return await run_sync(
            self._with_token, request, self._may_read, partial(self._documents, step)
        )

    def _may_read(self, credential: Credential) -> bool:
        return self._reads.allows(f"{credential.study} {credential.silo}")

    def _with_token(
        self,
        request: Request,
        allows: Callable[[Credential], bool],
        work: Callable[[str, str], Response],
    ) -> Response:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        token = secret.strip() if kind.lower() == "bearer" else None
        found = access.find(self.desk.store, "token", token)
        if found is None or found.role != "silo":
            return problem(401, "the token is not valid: it is wrong, expired or was replaced.")
        if not allows(found):
            return problem(429, "this silo asks too often.", "try again in a minute.")
        return work(*own(found))

    def _standing(self, study_id: str, silo: str) -> Response:
        rounds = self.desk.studies.rounds
        if not mode_of(self.desk.studies.plan(study_id)).in_rounds:
            return _no_rounds()
        rounds.advance(study_id)
        phase = rounds.phase(study_id)
        return JSONResponse(
            {
                "plan": self.desk.studies.plan(study_id).digest,
                "silo": silo,
                "phase": phase.name,
                "came": phase.came,
                "needed": phase.needed,
                "dropped": phase.dropped(silo),
            }
        )

    def _documents(self, step: str, study_id: str, _: str) -> Response:
        if not mode_of(self.desk.studies.plan(study_id)).in_rounds:
            return _no_rounds()
        if step not in PUBLIC_STEPS:
            return problem(
                404, "no silo gets these documents.", f"ask for {listed(PUBLIC_STEPS)}."
            )
        found = self.desk.studies.rounds.contents(study_id, step)
        return Response(b"".join(each + b"\n" for each in found), media_type="application/jsonl")

    def _take(self, data: bytes, study_id: str, silo: str) -> Response:
        try:
            receipt = self.desk.studies.receive(study_id, silo, data)
        except OptionError:
            return problem(401, "the study of this token was deleted.")
        except ConflictError as error:
            return problem(409, error.message, error.fix)
        except FedparityError as error:
            return problem(422, error.message, error.fix)
        return JSONResponse({"digest": receipt.digest}, 201 if receipt.new else 200)


def _no_rounds() -> Response:
    return problem(
        409,
        "the plan asks for one message of each silo, and for no secure sum.",
        "send it with fedparity send.",
    )
