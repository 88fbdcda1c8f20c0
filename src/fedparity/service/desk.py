"""What all pages of the collector share: who asks, how a page is rendered, how a request is declined."""

from __future__ import annotations

import hmac
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from anyio.to_thread import run_sync
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from fedparity.service import access
from fedparity.service.access import Credential, Role
from fedparity.service.limits import RateLimit
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.version import __version__

__all__ = ["Desk", "NotHere", "Page", "download", "own", "problem"]

_STUDY_ID = re.compile("[0-9a-f]{16}")
_MOST_RUNS = 1_000_000
_COOKIE = "fedparity_session"
_SECURE_COOKIE = f"__Host-{_COOKIE}"  # browsers take it over TLS only, and from this very host
Page: TypeAlias = Callable[[Request, Credential], Awaitable[Response]]


class NotHere(Exception):  # noqa: N818 -- it is an answer
    """A request for what is not there, or not for this person."""


class Desk:
    """The store, the address and the templates of one collector."""

    def __init__(self, store: Store, address: str, *, secure: bool) -> None:
        self.studies, self.store = Studies(store), store
        self.address, self.secure = address, secure
        self.cookie = _SECURE_COOKIE if secure else _COOKIE
        self._uploads = RateLimit(rate=0.5, burst=30)
        self._templates = Environment(
            loader=PackageLoader("fedparity.service"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["shell"] = shlex.quote

    async def session(self, request: Request) -> Credential | None:
        """Return who asks, by the cookie."""
        return await run_sync(access.find, self.store, "session", request.cookies.get(self.cookie))

    def protect(self, page: Page, roles: Sequence[Role] = ("auditor", "reader", "silo")) -> Any:  # noqa: ANN401 -- a route
        """Return a page that only these roles see, and whose forms must come from itself."""

        async def protected(request: Request) -> Response:
            found = await self.session(request)
            study = request.path_params.get("study")
            if not _can_be(request):
                return self.stranger()
            # Somebody without the right to a study does not learn whether there is one.
            if (
                found is None
                or found.role not in roles
                or (study is not None and found.study not in (None, study))
            ):
                return self.stranger()
            try:
                if request.method == "POST" and found.silo and not self.allows_silo(found):
                    return self.page("closed.html", status=429, why="rate")
                if request.method == "POST" and not await _is_of_session(request, found):
                    return self.page("closed.html", status=403, why="form")
                return await page(request, found)
            finally:
                await request.close()  # the files of a form

        protected.__doc__ = page.__doc__
        protected.roles = roles  # type: ignore[attr-defined]
        return protected

    def allows_silo(self, credential: Credential) -> bool:
        """Return whether a silo may change something once more now, whichever right it shows."""
        return self._uploads.allows(f"{credential.study} {credential.silo}")

    async def plan_file(self, request: Request, session: Credential) -> Response:
        """The plan as it was given."""
        study = request.path_params.get("study") or own(session)[0]
        text = await run_sync(self.studies.plan_text, study)
        if text is None:
            return self.stranger()
        return download(text.encode(), "plan.toml", "application/toml")

    def stranger(self) -> Response:
        """Return the one answer for what is not there and for what is not for this person."""
        return self.page("closed.html", status=404, why="link")

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        """Return a page."""
        text = self._templates.get_template(template).render(version=__version__, **values)
        return HTMLResponse(text, status)


def _can_be(request: Request) -> bool:
    """Whether the address is one that this program makes; databases do not take every other one."""
    study, number = request.path_params.get("study"), request.path_params.get("number", 1)
    return (study is None or _STUDY_ID.fullmatch(study) is not None) and number <= _MOST_RUNS


async def _is_of_session(request: Request, session: Credential) -> bool:
    """Whether a form came from a page of this session."""
    try:
        given = (await request.form()).get("csrf")
    except ValueError:  # the parser's errors, which Starlette does not all know
        raise HTTPException(400) from None
    return isinstance(given, str) and hmac.compare_digest(given.encode(), session.csrf.encode())


def own(session: Credential) -> tuple[str, str]:
    """Return the study and the silo of a silo's session.

    Raises
    ------
    NotHere
        If it is none of a silo.
    """
    if session.study is None or session.silo is None:
        raise NotHere
    return session.study, session.silo


def problem(status: int, message: str, fix: str = "ask the auditor for a new link.") -> Response:
    """Return what a program is told that is declined."""
    return JSONResponse({"error": message, "fix": fix}, status)


def download(data: bytes, name: str, media_type: str) -> Response:
    """Return a file to save."""
    return Response(
        data,
        media_type=media_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
