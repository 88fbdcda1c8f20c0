"""The auditor's pages, of which readers see those that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from fedparity.documents.plan import plan_text
from fedparity.documents.result import AuditResult
from fedparity.errors import FedparityError, MessageError
from fedparity.report.formats import FORMATS
from fedparity.report.sentences import in_points
from fedparity.service.access import Credential, is_valid
from fedparity.service.desk import Desk, NotHere, download
from fedparity.service.evidence import evidence_archive
from fedparity.service.readers import invite_reader, readers_of, remove_reader
from fedparity.service.retention import delete_study
from fedparity.service.studies import Study, Summary
from fedparity.text import number

__all__ = ["AuditorPages"]

_MOST_STREAMS = 20
"""Pages of a study that one session may keep up to date at once; each is a connection of its own."""
_REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class _Listing:
    """Some silos of a study: a page with ten thousand of them helps nobody."""

    most = 200

    def __init__(self, study: Study, show: str = "", first: int = 0) -> None:
        chosen = {
            "waiting": [silo for silo in study.silos if silo.state != "received"],
            "received": [silo for silo in study.silos if silo.state == "received"],
        }
        self.show = show if show in chosen else "all"
        silos = chosen.get(show, study.silos)
        self.total = len(silos)
        self.first = min(first, max(self.total - 1, 0)) // self.most * self.most
        self.silos = silos[self.first : self.first + self.most]
        self.sizes = {"all": len(study.silos)} | {name: len(each) for name, each in chosen.items()}


def _gap(result: AuditResult) -> str:
    """How far apart the two groups furthest apart are."""
    return f"{number(100 * result.magnitudes.worst_pair.share_of_range, 2)} %"


class AuditorPages:
    """The studies of a collector, and what can be done with one."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._watching: Counter[str] = Counter()

    async def new_study(self, request: Request, session: Credential) -> Response:
        """Begin a study with the plan that was uploaded."""
        form = await request.form()
        plan = form.get("plan")
        data = await plan.read() if isinstance(plan, UploadFile) else b""
        names = [line.strip() for line in str(form.get("silos") or "").splitlines()]
        deadline = str(form.get("deadline") or "") or None
        silos = [name for name in names if name]

        def create() -> str:
            text = plan_text(data)
            return self.desk.studies.create(text, deadline=deadline, silos=silos)

        try:
            study = await run_sync(create)
        except FedparityError as error:
            found = await run_sync(self.desk.studies.summaries)
            return self.desk.page(
                "studies.html", status=422, session=session, studies=found, error=error
            )
        return RedirectResponse(f"/studies/{study}", 303)

    async def study(self, request: Request, session: Credential) -> Response:
        """How far every silo is, what is known, and what can be done."""
        study = await self._study(request)
        asked = request.query_params
        first = asked.get("from", "0")
        listing = _Listing(
            study, asked.get("show", ""), int(first[:6]) if first.isdecimal() else 0
        )
        return await self._study_page(study, session, listing)

    async def _study_page(
        self,
        study: Study,
        session: Credential,
        listing: _Listing | None = None,
        status: int = 200,
        **more: Any,  # noqa: ANN401
    ) -> Response:
        events = await run_sync(partial(self.desk.store.events, study.id, last=30))
        values: dict[str, Any] = {"events": events, "link": None, "error": None} | more
        return self.desk.page(
            "study.html",
            status=status,
            session=session,
            readers=await run_sync(readers_of, self.desk.store, study.id),
            study=study,
            address=self.desk.address,
            waiting=[silo for silo in study.silos if silo.state != "received"],
            earlier=await run_sync(self._earlier, study) if session.study is None else [],
            listing=listing or _Listing(study),
            **values,
        )

    def _earlier(self, study: Study) -> list[tuple[Summary, str]]:
        """Return earlier rounds with what their last audit found; they are the auditor's alone."""
        found = []
        for each in self.desk.studies.before(study):
            result = None if each.run is None else self.desk.studies.result(each.id, each.run)
            found.append((each, "" if result is None else f"{_gap(result)} of the scale"))
        return found

    async def _study(self, request: Request) -> Study:
        found = await run_sync(self.desk.studies.get, request.path_params["study"])
        if found is None:
            raise NotHere
        return found

    async def invite(self, request: Request, session: Credential) -> Response:
        """Make a link for a silo's people, shown once."""
        study, silo = await self._named_silo(request)
        link = await run_sync(self.desk.studies.invite, study.id, silo)
        study = await self._study(request)
        address = f"{self.desk.address}/enter/{link}"
        return await self._study_page(study, session, link=(silo, address, "silo"))

    async def reopen(self, request: Request, session: Credential) -> Response:
        """Let a silo replace its message."""
        study, silo = await self._named_silo(request)
        return await self._done(study, session, partial(self.desk.studies.reopen, study.id, silo))

    async def _named_silo(self, request: Request) -> tuple[Study, str]:
        study = await self._study(request)
        silo = str((await request.form()).get("silo"))
        if silo not in {each.name for each in study.silos}:
            raise NotHere
        return study, silo

    async def run(self, request: Request, session: Credential) -> Response:
        """Run the audit on what is here."""
        study = await self._study(request)
        return await self._done(
            study, session, partial(self.desk.studies.audit, study.id), "#audits"
        )

    async def close_list(self, request: Request, session: Credential) -> Response:
        """Ask the silos for the sum of all masked numbers that came, once and for all."""
        study = await self._study(request)
        if study.round is None:
            raise NotHere
        work = partial(self.desk.studies.rounds.close_list, study.id)
        return await self._done(study, session, work)

    async def invite_reader(self, request: Request, session: Credential) -> Response:
        """Make a link for a reader, shown once."""
        study = await self._study(request)
        name = str((await request.form()).get("name") or "").strip()
        try:
            link = await run_sync(invite_reader, self.desk.store, study.id, name)
        except FedparityError as error:
            return await self._study_page(study, session, error=error, status=422)
        return await self._study_page(
            study, session, link=(name, f"{self.desk.address}/enter/{link}", "reader")
        )

    async def remove_reader(self, request: Request, session: Credential) -> Response:
        """Take the right to read from somebody."""
        study = await self._study(request)
        name = str((await request.form()).get("name") or "")
        work = partial(remove_reader, self.desk.store, study.id, name)
        return await self._done(study, session, work, "#readers")

    async def _done(
        self, study: Study, session: Credential, work: Callable[[], object], place: str = ""
    ) -> Response:
        """Do some work, and show the page again; with the error, if there is one."""
        try:
            await run_sync(work)
        except FedparityError as error:
            return await self._study_page(study, session, error=error, status=422)
        return RedirectResponse(f"/studies/{study.id}{place}", 303)

    async def delete(self, request: Request, session: Credential) -> Response:
        """Delete a study whose title was typed once more."""
        study = await self._study(request)
        typed = str((await request.form()).get("title")).strip()
        if typed != study.plan.title:
            error = MessageError(
                "the title typed is another one.", fix="type it as it stands above."
            )
            return await self._study_page(study, session, error=error, status=422)
        await run_sync(delete_study, self.desk.studies, study.id)
        return RedirectResponse("/", 303)

    async def news(self, request: Request, session: Credential) -> Response:
        """Server-sent events: the number of the log's last line of this study, whenever it changes."""
        study = (await self._study(request)).id
        if self._watching[session.hash] >= _MOST_STREAMS:
            return PlainTextResponse("this session watches enough already\n", 429)

        def newest_line() -> int | None:
            if not is_valid(self.desk.store, session) or not self.desk.studies.exists(study):
                return None
            events = self.desk.store.events(study, last=1)
            return events[0].sequence if events else 0

        async def lines() -> AsyncIterator[str]:
            last = -1
            self._watching[session.hash] += 1
            try:
                while not await request.is_disconnected():
                    newest = await run_sync(newest_line)
                    if newest is None:
                        return
                    if newest != last:
                        last = newest
                        yield f"data: {newest}\n\n"
                    await anyio.sleep(1)
            finally:
                self._watching[session.hash] -= 1
                self._watching += Counter()  # forgets those who watch nothing

        # nginx keeps short answers back otherwise
        unbuffered = {"x-accel-buffering": "no"}
        return StreamingResponse(lines(), media_type="text/event-stream", headers=unbuffered)

    async def provisional(self, request: Request, _: Credential) -> Response:
        """What would be known if the audit ran now."""
        study = await self._study(request)
        if study.round is not None and study.round.name != "done":
            return JSONResponse({"words": "the sum cannot be opened yet"})
        if not study.received:
            return JSONResponse({"words": "no message is here yet"})
        try:
            result = await run_sync(self.desk.studies.measure, study.id)
            if result is None:
                return JSONResponse({"words": "is being computed …", "again": True})
        except FedparityError as error:
            return JSONResponse({"words": error.message})
        verdict = result.disparity.verdict
        return JSONResponse(
            {
                "words": in_points(result),
                "answered": verdict.answered,
                "all": verdict.all,
                "n": result.n,
                "gap": _gap(result),
            }
        )

    async def report(self, request: Request, _: Credential) -> Response:
        """The report of an audit; it has no scripts, and may do nothing here."""
        number = request.path_params["number"]
        result = await run_sync(self.desk.studies.result, request.path_params["study"], number)
        if result is None:
            return self.desk.stranger()
        page = await run_sync(FORMATS["html"].render, result)
        return HTMLResponse(page, headers={"content-security-policy": _REPORT_POLICY})

    async def evidence(self, request: Request, _: Credential) -> Response:
        """The archive from which the audit can be made again."""
        number = request.path_params["number"]
        data = await run_sync(
            evidence_archive, self.desk.studies, request.path_params["study"], number
        )
        if data is None:
            return self.desk.stranger()
        name = f"evidence-{request.path_params['study']}-{number}.zip"
        return download(data, name, "application/zip")
