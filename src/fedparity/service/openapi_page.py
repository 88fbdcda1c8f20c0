"""The collector's interface for programs, as OpenAPI and as a page: every route, who may use it, what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from fedparity.service.desk import Desk
from fedparity.version import __version__

__all__ = ["COMMON", "STATUSES", "InterfacePages", "openapi"]

_STUDY = "/studies/{study}"
_RUN = f"{_STUDY}/runs/{{number}}"
_WORDS = {
    200: "what was asked for",
    201: "taken; it is on the disk",
    204: "nothing",
    303: "done; go on to the page named in Location",
    400: "the form cannot be read, or the request states two lengths",
    401: "the token is not valid",
    403: "the form is too old, the link was used, or the request comes from another page",
    404: "not there, or not for you",
    405: "not with this method",
    408: "the request took too long",
    409: "another message is there, or the plan asks for something else",
    413: "the request is too large",
    415: "not in UTF-8",
    421: "not the collector's address",
    422: "refused, with the reason and a fix",
    429: "too many requests",
    503: "the database does not answer",
}
COMMON = (400, 403, 404, 405, 408, 413, 415, 421, 429, 503)
"""What any request may get before a page sees it, or where there is no such page."""
STATUSES: dict[tuple[str, str], tuple[int, ...]] = {
    ("GET", "/"): (200, 303),
    ("GET", "/healthz"): (200, 503),
    ("GET", "/favicon.ico"): (204,),
    ("GET", "/openapi.json"): (200,),
    ("GET", "/api"): (200,),
    ("GET", "/enter/{link}"): (200,),
    ("POST", "/enter/{link}"): (303, 403),
    ("POST", "/leave"): (303, 400, 403, 404),
    ("POST", "/studies"): (303, 400, 403, 404, 422),
    ("GET", _STUDY): (200, 404),
    ("GET", f"{_STUDY}/news"): (200, 404),
    ("GET", f"{_STUDY}/provisional"): (200, 404),
    ("GET", f"{_STUDY}/plan.toml"): (200, 404),
    ("POST", f"{_STUDY}/invite"): (200, 400, 403, 404),
    ("POST", f"{_STUDY}/reopen"): (303, 400, 403, 404, 422),
    ("POST", f"{_STUDY}/request"): (303, 400, 403, 404, 422),
    ("POST", f"{_STUDY}/audit"): (303, 400, 403, 404, 422),
    ("POST", f"{_STUDY}/readers"): (200, 400, 403, 404, 422),
    ("POST", f"{_STUDY}/readers/remove"): (303, 400, 403, 404),
    ("POST", f"{_STUDY}/delete"): (303, 400, 403, 404, 422),
    ("GET", f"{_RUN}/report.html"): (200, 404),
    ("GET", f"{_RUN}/evidence.zip"): (200, 404),
    ("GET", "/silo"): (200, 404),
    ("GET", "/silo/plan.toml"): (200, 404),
    ("GET", "/silo/sketch.html"): (200, 404),
    ("POST", "/silo/approve"): (303, 400, 403, 404),
    ("POST", "/silo/token"): (200, 400, 403, 404),
    ("POST", "/silo/message"): (200, 400, 403, 404, 422),
    ("PUT", "/api/message"): (200, 201, 401, 409, 422, 429),
    ("GET", "/api/round"): (200, 401, 409, 429),
    ("GET", "/api/round/{step}"): (200, 401, 404, 409, 429),
}
"""What each route answers; a test finds every one of them, and that there are no others."""


class _Entry(NamedTuple):
    """One way to ask."""

    method: str
    path: str
    summary: str
    who: str
    statuses: tuple[int, ...]


def _entries(routes: Iterable[BaseRoute]) -> Iterator[_Entry]:
    for route in routes:
        if not isinstance(route, Route):
            continue  # the folder of style sheets
        path = route.path.replace(":int}", "}")
        for method in sorted((route.methods or set()) - {"HEAD"}):
            summary = (route.endpoint.__doc__ or "").partition("\n")[0]
            roles = getattr(route.endpoint, "roles", None)
            who = "everybody" if roles is None else ", ".join(roles)
            if path in ("/api/message", "/api/round", "/api/round/{step}"):
                who = "a silo's token"
            yield _Entry(method, path, summary, who, STATUSES[method, path])


def openapi(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Return the interface as a document of OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for entry in _entries(routes):
        names = [part[1:-1] for part in entry.path.split("/") if part.startswith("{")]
        secured: dict[str, Any] = {"everybody": [], "a silo's token": [{"token": []}]}
        paths.setdefault(entry.path, {})[entry.method.lower()] = {
            "summary": entry.summary,
            "description": f"For: {entry.who}.",
            "security": secured.get(entry.who, [{"session": []}]),
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in names
            ],
            "responses": {
                str(status): {"description": _WORDS[status]}
                for status in sorted({*entry.statuses, *COMMON})
            },
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "fedparity collector", "version": __version__},
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "fedparity_session"},
            }
        },
    }


class InterfacePages:
    """The interface, for programs and for people."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def document(self, request: Request) -> Response:
        """The interface as OpenAPI."""
        return JSONResponse(openapi(request.app.routes))

    async def page(self, request: Request) -> Response:
        """The interface as a page."""
        return self.desk.page(
            "interface.html",
            entries=list(_entries(request.app.routes)),
            words=_WORDS,
            common=COMMON,
        )
