"""The pages of the collector, and the door through which programs send messages."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import anyio
from anyio.to_thread import run_sync
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fedparity.documents.files import file_name
from fedparity.errors import ConflictError, FedparityError, MessageError
from fedparity.modes.mode import mode_of
from fedparity.report.formats import FORMATS
from fedparity.report.sentences import in_points
from fedparity.service import access
from fedparity.service.access import Credential, Role
from fedparity.service.limits import Guard, RateLimit
from fedparity.service.store import Store
from fedparity.service.studies import Studies, Study
from fedparity.version import __version__

__all__ = ["collector"]

_COOKIE = "fedparity_session"
_SECURE_COOKIE = f"__Host-{_COOKIE}"  # browsers take it over TLS only, and from this very host
_REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
Page: TypeAlias = Callable[[Request, Credential], Awaitable[Response]]


def collector(store: Store, *, address: str, hosts: Sequence[str], secure: bool) -> Starlette:
    """Return the application.

    Parameters
    ----------
    store : Store
    address : str
        As people type it, without a slash at the end; links start with it.
    hosts : sequence of str
        The names under which it may be asked for.
    secure : bool
        Whether browsers reach it over TLS, so that cookies need it too.
    """
    pages = _Pages(store, address, secure=secure)
    return Starlette(
        routes=pages.routes(),
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={_Refusal: pages.refused, 404: pages.missing},
    )


class _Refusal(Exception):  # noqa: N818 -- it is an answer
    """A request for what is not there, or not for this person."""


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


class _Pages:
    def __init__(self, store: Store, address: str, *, secure: bool) -> None:
        self.studies, self.store = Studies(store), store
        self.address, self.secure = address, secure
        self.cookie = _SECURE_COOKIE if secure else _COOKIE
        self.templates = Environment(
            loader=PackageLoader("fedparity.service"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.uploads = RateLimit(rate=0.5, burst=30)

    def routes(self) -> list[Route | Mount]:
        """Return where everything is."""
        auditor = partial(self.protect, roles=("auditor",))
        readers = partial(self.protect, roles=("auditor", "reader"))
        silo = partial(self.protect, roles=("silo",))
        one = "/studies/{study}"
        return [
            Route("/", self.home),
            Route("/healthz", self.health),
            Route("/enter/{link}", self.enter, methods=["GET", "POST"]),
            Route("/leave", self.protect(self.leave), methods=["POST"]),
            Route("/studies", auditor(self.new_study), methods=["POST"]),
            Route(one, readers(self.study)),
            Route(f"{one}/news", readers(self.news)),
            Route(f"{one}/provisional", readers(self.provisional)),
            Route(f"{one}/plan.toml", readers(self.plan_file)),
            Route(f"{one}/invite", auditor(self.invite), methods=["POST"]),
            Route(f"{one}/reopen", auditor(self.reopen), methods=["POST"]),
            Route(f"{one}/audit", auditor(self.run), methods=["POST"]),
            Route(f"{one}/delete", auditor(self.delete), methods=["POST"]),
            Route(f"{one}/runs/{{number:int}}/report.html", readers(self.report)),
            Route(f"{one}/runs/{{number:int}}/evidence.zip", readers(self.evidence)),
            Route("/silo", silo(self.silo)),
            Route("/silo/plan.toml", silo(self.plan_file)),
            Route("/silo/approve", silo(self.approve), methods=["POST"]),
            Route("/silo/token", silo(self.token), methods=["POST"]),
            Route("/silo/message", silo(self.upload), methods=["POST"]),
            Route("/api/message", self.send, methods=["PUT"]),
            Mount("/static", StaticFiles(packages=[("fedparity.service", "static")])),
        ]

    # Who is asking ----------------------------------------------------------------------------

    def protect(self, page: Page, roles: Sequence[Role] = ("auditor", "reader", "silo")) -> Any:  # noqa: ANN401 -- a route
        """Return a page that only these roles see, and whose forms must come from itself."""

        async def protected(request: Request) -> Response:
            found = await run_sync(
                access.find, self.store, "session", request.cookies.get(self.cookie)
            )
            study = request.path_params.get("study")
            # Somebody without the right to a study does not learn whether there is one.
            if (
                found is None
                or found.role not in roles
                or (study is not None and found.study not in (None, study))
            ):
                return self._stranger(request)
            if request.method == "POST":
                form = await request.form()
                given = form.get("csrf")
                if not isinstance(given, str) or not hmac.compare_digest(
                    given.encode(), found.csrf.encode()
                ):
                    return self._page("closed.html", status=403, why="form")
            try:
                return await page(request, found)
            finally:
                await request.close()  # the files of a form

        return protected

    def _stranger(self, _: Request) -> Response:
        return self._page("closed.html", status=404, why="link")

    async def home(self, request: Request) -> Response:
        """The studies, for an auditor; the own page, for a silo; for others, how to come in."""
        found = await run_sync(
            access.find, self.store, "session", request.cookies.get(self.cookie)
        )
        if found is None:
            return self._page("closed.html", why="link")
        if found.role == "silo":
            return RedirectResponse("/silo", 303)
        if found.study is not None:
            return RedirectResponse(f"/studies/{found.study}", 303)
        return self._page(
            "studies.html",
            session=found,
            studies=await run_sync(self.studies.summaries),
            error=None,
        )

    async def enter(self, request: Request) -> Response:
        """Come in by a link: a button first, since programs that check mail open links too."""
        link = request.path_params["link"]
        if request.method == "GET":
            return self._page("enter.html", link=link)

        def redeem() -> str | None:
            with self.store.change() as change:
                return access.redeem(change, link)

        session = await run_sync(redeem)
        if session is None:
            return self._page("closed.html", status=403, why="used")
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self.cookie, session, httponly=True, samesite="strict", secure=self.secure, path="/"
        )
        return response

    async def leave(self, _: Request, session: Credential) -> Response:
        """End a session."""

        def forget() -> None:
            with self.store.change() as change:
                access.forget(change, session)

        await run_sync(forget)
        response = RedirectResponse("/", 303)
        response.delete_cookie(self.cookie, path="/", secure=self.secure)
        return response

    # The auditor ------------------------------------------------------------------------------

    async def new_study(self, request: Request, session: Credential) -> Response:
        """Begin a study with the plan that was uploaded."""
        form = await request.form()
        plan = form.get("plan")
        text = (
            (await plan.read()).decode("utf-8", "replace") if isinstance(plan, UploadFile) else ""
        )
        names = [line.strip() for line in str(form.get("silos") or "").splitlines()]
        deadline = str(form.get("deadline") or "") or None
        try:
            study = await run_sync(
                partial(
                    self.studies.create, text, deadline=deadline, silos=[n for n in names if n]
                )
            )
        except FedparityError as error:
            found = await run_sync(self.studies.summaries)
            return self._page(
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
        **more: Any,  # noqa: ANN401
    ) -> Response:
        events = await run_sync(partial(self.store.events, study.id, last=30))
        values: dict[str, Any] = {"events": events, "link": None, "error": None} | more
        return self._page(
            "study.html",
            session=session,
            study=study,
            listing=listing or _Listing(study),
            **values,
        )

    async def _study(self, request: Request) -> Study:
        found = await run_sync(self.studies.get, request.path_params["study"])
        if found is None:
            raise _Refusal
        return found

    async def invite(self, request: Request, session: Credential) -> Response:
        """Make a link for a silo's people, shown once."""
        study, silo = await self._named_silo(request)
        link = await run_sync(self.studies.invite, study.id, silo)
        study = await self._study(request)
        address = f"{self.address}/enter/{link}"
        return await self._study_page(study, session, link=(silo, address))

    async def reopen(self, request: Request, _: Credential) -> Response:
        """Let a silo replace its message."""
        study, silo = await self._named_silo(request)
        await run_sync(self.studies.reopen, study.id, silo)
        return RedirectResponse(f"/studies/{study.id}", 303)

    async def _named_silo(self, request: Request) -> tuple[Study, str]:
        study = await self._study(request)
        silo = str((await request.form()).get("silo"))
        if silo not in {each.name for each in study.silos}:
            raise _Refusal
        return study, silo

    async def run(self, request: Request, session: Credential) -> Response:
        """Run the audit on what is here."""
        study = await self._study(request)
        try:
            await run_sync(self.studies.audit, study.id)
        except FedparityError as error:
            return await self._study_page(study, session, error=error)
        return RedirectResponse(f"/studies/{study.id}#audits", 303)

    async def delete(self, request: Request, session: Credential) -> Response:
        """Delete a study whose title was typed once more."""
        study = await self._study(request)
        typed = str((await request.form()).get("title")).strip()
        if typed != study.plan.title:
            error = MessageError(
                "the title typed is another one.", fix="type it as it stands above."
            )
            return await self._study_page(study, session, error=error)
        await run_sync(self.studies.delete, study.id)
        return RedirectResponse("/", 303)

    async def news(self, request: Request, _: Credential) -> Response:
        """Server-sent events: the number of the log's last line of this study, whenever it changes."""
        study = request.path_params["study"]

        async def lines() -> AsyncIterator[str]:
            last = -1
            while not await request.is_disconnected():
                events = await run_sync(partial(self.store.events, study, last=1))
                newest = events[0].sequence if events else 0
                if newest != last:
                    last = newest
                    yield f"data: {newest}\n\n"
                await anyio.sleep(1)

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def provisional(self, request: Request, _: Credential) -> Response:
        """What would be known if the audit ran now."""
        study = await self._study(request)
        try:
            result = await run_sync(self.studies.measure, study.id)
        except FedparityError as error:
            return JSONResponse({"words": error.message})
        verdict = result.disparity.verdict
        return JSONResponse(
            {
                "words": in_points(result),
                "answered": verdict.answered,
                "all": verdict.all,
                "n": result.n,
            }
        )

    async def report(self, request: Request, _: Credential) -> Response:
        """The report of an audit; it has no scripts, and may do nothing here."""
        number = request.path_params["number"]
        result = await run_sync(self.studies.result, request.path_params["study"], number)
        if result is None:
            return self._stranger(request)
        page = await run_sync(FORMATS["html"].render, result)
        return HTMLResponse(page, headers={"content-security-policy": _REPORT_POLICY})

    async def evidence(self, request: Request, _: Credential) -> Response:
        """The archive from which the audit can be made again."""
        number = request.path_params["number"]
        data = await run_sync(self.studies.evidence, request.path_params["study"], number)
        if data is None:
            return self._stranger(request)
        name = f"evidence-{request.path_params['study']}-{number}.zip"
        return _download(data, name, "application/zip")

    async def plan_file(self, request: Request, session: Credential) -> Response:
        """The plan as it was given."""
        study = request.path_params.get("study") or _own(session)[0]
        text = await run_sync(self.studies.plan_text, study)
        if text is None:
            return self._stranger(request)
        return _download(text.encode(), "plan.toml", "application/toml")

    # The silo ---------------------------------------------------------------------------------

    async def silo(self, _: Request, session: Credential) -> Response:
        """The plan in plain words, what would leave, and the state of the own message."""
        await run_sync(self.studies.mark, *_own(session), "seen")
        return await self._silo_page(session)

    async def _silo_page(self, session: Credential, **more: Any) -> Response:  # noqa: ANN401
        study = await run_sync(partial(self.studies.get, session.study or "", only=session.silo))
        if study is None or not study.silos:
            return self._page("closed.html", status=404, why="link")
        values: dict[str, Any] = {"token": None, "error": None, "receipt": None} | more
        return self._page(
            "silo.html",
            session=session,
            study=study,
            silo=study.silos[0],
            described=mode_of(study.plan).describe(),
            message=f"{file_name(study.silos[0].name)}.sketch.json",
            address=self.address,
            **values,
        )

    async def approve(self, _: Request, session: Credential) -> Response:
        """Record that the silo agrees to the plan."""
        await run_sync(self.studies.mark, *_own(session), "approved")
        return RedirectResponse("/silo", 303)

    async def token(self, _: Request, session: Credential) -> Response:
        """Make a token for the silo's program, shown once."""
        made = await run_sync(self.studies.token, *_own(session))
        return await self._silo_page(session, token=made)

    async def upload(self, request: Request, session: Credential) -> Response:
        """Take a message from the browser."""
        file = (await request.form()).get("message")
        data = await file.read() if isinstance(file, UploadFile) else b""
        try:
            receipt = await run_sync(self.studies.receive, *_own(session), data)
        except FedparityError as error:
            return await self._silo_page(session, error=error)
        return await self._silo_page(session, receipt=receipt)

    async def send(self, request: Request) -> Response:
        """Take a message from a program."""
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        token = secret.strip() if kind.lower() == "bearer" else None
        return await run_sync(self._take, token, await request.body())

    def _take(self, token: str | None, data: bytes) -> Response:
        found = access.find(self.store, "token", token)
        if found is None or found.role != "silo":
            return _problem(401, "the token is not valid: it is wrong, expired or was replaced.")
        if not self.uploads.allows(found.hash):
            return _problem(429, "this silo sends too often.", "try again in a minute.")
        try:
            receipt = self.studies.receive(*_own(found), data)
        except ConflictError as error:
            return _problem(409, error.message, error.fix)
        except FedparityError as error:
            return _problem(422, error.message, error.fix)
        return JSONResponse({"digest": receipt.digest}, 201 if receipt.new else 200)

    # All --------------------------------------------------------------------------------------

    async def health(self, _: Request) -> Response:
        """Whether the service can reach its database."""

        def ask() -> None:
            with self.store.read() as connection:
                connection.exec_driver_sql("SELECT 1")

        await run_sync(ask)
        return JSONResponse({"status": "ok", "version": __version__})

    async def refused(self, request: Request, _: Exception) -> Response:
        """What is not there."""
        return self._stranger(request)

    async def missing(self, request: Request, _: Exception) -> Response:
        """No such page, or none for this person: the answer is the same."""
        return self._stranger(request)

    def _page(self, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        text = self.templates.get_template(template).render(version=__version__, **values)
        return HTMLResponse(text, status)


def _own(session: Credential) -> tuple[str, str]:
    """The study and the silo of a silo's session; nothing is there for one without."""
    if session.study is None or session.silo is None:
        raise _Refusal
    return session.study, session.silo


def _problem(status: int, message: str, fix: str = "ask the auditor for a new link.") -> Response:
    return JSONResponse({"error": message, "fix": fix}, status)


def _download(data: bytes, name: str, media_type: str) -> Response:
    return Response(
        data,
        media_type=media_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
