"""What the service does beside answering requests: it deletes what is old, and looks into the drop folder."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from anyio.to_thread import run_sync
from starlette.applications import Starlette

from fedparity.service.drop_folder import DropFolder
from fedparity.service.retention import delete_old
from fedparity.service.studies import Studies

__all__ = ["Chores"]

_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class Chores:
    """What is to be done, and how often."""

    retain: int | None = None
    """Days after which a study in which nothing happened is deleted; None: never."""
    drop: str | None = None
    """The drop folder."""
    every: float = 2.0
    """Seconds between two looks into it."""

    @asynccontextmanager
    async def around(self, studies: Studies, _: Starlette) -> AsyncIterator[None]:
        """Do it all for as long as the service runs."""
        work = [_repeat(partial(delete_old, studies, self.retain), _HOUR)]
        if self.drop is not None:
            folder = DropFolder(self.drop, studies)
            work.append(_repeat(folder.look, self.every))
        tasks = [asyncio.create_task(each) for each in work]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _repeat(work: Callable[[], object], seconds: float) -> None:
    while True:
        try:
            await run_sync(work)
        except Exception as problem:  # noqa: BLE001 -- the next time may do; requests must go on
            sys.stderr.write(f"fedparity: a chore failed: {type(problem).__name__}\n")
        await asyncio.sleep(seconds)
