"""The collector as an application: where every page is, and who may see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from anyio.to_thread import run_sync
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fedparity.errors import OptionError
from fedparity.service import access
from fedparity.service.access import Credential
from fedparity.service.auditor_pages import AuditorPages
from fedparity.service.chores import Chores
from fedparity.service.desk import Desk, NotHere, problem
from fedparity.service.limits import Guard, RequestLog
from fedparity.service.openapi_page import InterfacePages
from fedparity.service.silo_pages import SiloPages
from fedparity.service.store import Store
from fedparity.version import __version__

__all__ = ["collector"]


def collector(
    store: Store,
    *,
    address: str,
    hosts: Sequence[str],
    secure: bool,
    chores: Chores | None = None,
    log: Callable[[Mapping[str, object]], None] | None = None,
) -> Starlette:
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
    chores : Chores, optional
        What is done beside answering requests.
    log : callable, optional
        Given what is known of every request without its contents.
    """
    desk = Desk(store, address, secure=secure)
    doors = _Doors(desk)
    application = Starlette(
        routes=[*doors.routes(), *_auditor_routes(desk), *_silo_routes(desk)],
        middleware=[
            *(() if log is None else (Middleware(RequestLog, log=log),)),
            Middleware(Guard, hosts=hosts),
        ],
        lifespan=None if chores is None else partial(chores.around, desk.studies),
        exception_handlers={
            NotHere: doors.missing,
            404: doors.missing,
            # A study that was deleted between two looks at it.
            OptionError: doors.missing,
            IntegrityError: doors.missing,
            SQLAlchemyError: doors.failing,
        },
    )
    application.router.redirect_slashes = False  # a page has one address
    return application


def _auditor_routes(desk: Desk) -> list[Route]:
    """Readers see what changes nothing."""
    pages, one = AuditorPages(desk), "/studies/{study}"
    auditor = partial(desk.protect, roles=("auditor",))
    readers = partial(desk.protect, roles=("auditor", "reader"))
    return [
        Route("/studies", auditor(pages.new_study), methods=["POST"]),
        Route(one, readers(pages.study)),
        Route(f"{one}/news", readers(pages.news)),
        Route(f"{one}/provisional", readers(pages.provisional)),
        Route(f"{one}/plan.toml", readers(desk.plan_file)),
        Route(f"{one}/invite", auditor(pages.invite), methods=["POST"]),
        Route(f"{one}/reopen", auditor(pages.reopen), methods=["POST"]),
        Route(f"{one}/request", auditor(pages.close_list), methods=["POST"]),
        Route(f"{one}/audit", auditor(pages.run), methods=["POST"]),
        Route(f"{one}/readers", auditor(pages.invite_reader), methods=["POST"]),
        Route(f"{one}/readers/remove", auditor(pages.remove_reader), methods=["POST"]),
        Route(f"{one}/delete", auditor(pages.delete), methods=["POST"]),
        Route(f"{one}/runs/{{number:int}}/report.html", readers(pages.report)),
        Route(f"{one}/runs/{{number:int}}/evidence.zip", readers(pages.evidence)),
    ]


def _silo_routes(desk: Desk) -> list[Route]:
    pages, silo = SiloPages(desk), partial(desk.protect, roles=("silo",))
    return [
        Route("/silo", silo(pages.silo)),
        Route("/silo/plan.toml", silo(desk.plan_file)),
        Route("/silo/sketch.html", silo(pages.sketching)),
        Route("/silo/approve", silo(pages.approve), methods=["POST"]),
        Route("/silo/token", silo(pages.token), methods=["POST"]),
        Route("/silo/message", silo(pages.upload), methods=["POST"]),
        Route("/api/message", pages.send, methods=["PUT"]),
        Route("/api/round", pages.round),
        Route("/api/round/{step}", pages.round_documents),
    ]


class _Doors:
    """What is there for everybody: the way in, the way out, and whether the service is well."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def routes(self) -> list[Route | Mount]:
        """Return where these pages are."""
        interface = InterfacePages(self.desk)
        return [
            Route("/", self.home),
            Route("/healthz", self.health),
            Route("/favicon.ico", self.icon),
            Route("/openapi.json", interface.document),
            Route("/api", interface.page),
            Route("/enter/{link}", self.enter, methods=["GET", "POST"]),
            Route("/leave", self.desk.protect(self.leave), methods=["POST"]),
            Mount("/static", StaticFiles(packages=[("fedparity.service", "static")])),
        ]

    async def home(self, request: Request) -> Response:
        """The studies, for an auditor; the own page, for a silo; for others, how to come in."""
        found = await self.desk.session(request)
        if found is None:
            return self.desk.page("closed.html", why="link")
        if found.role == "silo":
            return RedirectResponse("/silo", 303)
        if found.study is not None:
            return RedirectResponse(f"/studies/{found.study}", 303)
        return self.desk.page(
            "studies.html",
            session=found,
            studies=await run_sync(self.desk.studies.summaries),
            error=None,
        )

    async def enter(self, request: Request) -> Response:
        """Come in by a link: a button first, since programs that check mail open links too."""
        link = request.path_params["link"]
        if request.method == "GET":
            return self.desk.page("enter.html", link=link)

        before = await self.desk.session(request)

        def redeem() -> str | None:
            with self.desk.store.change() as change:
                session = access.redeem(change, link)
                if session is not None and before is not None:
                    access.forget(change, before)  # nobody has its cookie any more
                return session

        session = await run_sync(redeem)
        if session is None:
            return self.desk.page("closed.html", status=403, why="used")
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self.desk.cookie,
            session,
            httponly=True,
            samesite="strict",
            secure=self.desk.secure,
            path="/",
        )
        return response

    async def leave(self, _: Request, session: Credential) -> Response:
        """End a session."""

        def forget() -> None:
            with self.desk.store.change() as change:
                access.forget(change, session)

        await run_sync(forget)
        response = RedirectResponse("/", 303)
        response.delete_cookie(self.desk.cookie, path="/", secure=self.desk.secure)
        return response

    async def health(self, _: Request) -> Response:
        """Whether the service can reach its database."""

        def ask() -> None:
            with self.desk.store.read() as connection:
                connection.exec_driver_sql("SELECT 1")

        try:
            await run_sync(ask)
        except SQLAlchemyError:
            return JSONResponse({"status": "no database", "version": __version__}, 503)
        return JSONResponse({"status": "ok", "version": __version__})

    async def icon(self, _: Request) -> Response:
        """Nothing: browsers ask for an icon where a page names none, as reports do not."""
        return Response(status_code=204)

    async def missing(self, _: Request, __: Exception) -> Response:
        """No such page, or none for this person: the answer is the same."""
        return self.desk.stranger()

    async def failing(self, request: Request, error: Exception) -> Response:
        """The database does not do what it should: the disk may be full, or its server away."""
        sys.stderr.write(f"fedparity: the database failed: {type(error).__name__}\n")
        words = (
            "the collector's database does not answer, or its disk is full; nothing was stored."
        )
        fix = "try again in a minute, and tell the auditor if it stays so."
        if request.url.path.startswith("/api/"):
            return problem(503, words, fix)
        return self.desk.page("closed.html", status=503, why="database")
