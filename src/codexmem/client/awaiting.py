"""`AsyncClient`: the calls of `Client`, to be awaited."""

from __future__ import annotations

import asyncio
from typing import Self, TypeVar

import httpx2

from codexmem.client import calls, calls_qa, starting
from codexmem.client.call import ApiCall, SendsAwaited, awaited, every_awaited
from codexmem.client.exchange import HttpExchange, Patience, Wait

T = TypeVar("T")


class AsyncNotes:
    """Memories with an address."""

    def __init__(self, client: SendsAwaited) -> None:
        self.send = client.send

    create = awaited(calls.create)
    read = awaited(calls.read)
    update = awaited(calls.update)
    patch = awaited(calls.patch)
    delete = awaited(calls.delete)
    restore = awaited(calls.restore)
    rollback = awaited(calls.rollback)
    find = awaited(calls.find)
    tree = awaited(calls.tree)
    versions = awaited(calls.versions)
    version = awaited(calls.version)
    add_alias = awaited(calls.add_alias)
    remove_alias = awaited(calls.remove_alias)
    all = every_awaited(calls.find)
    whole_tree = every_awaited(calls.tree)
    all_versions = every_awaited(calls.versions)


class AsyncQA:
    """Questions with answers."""

    def __init__(self, client: SendsAwaited) -> None:
        self.send = client.send

    search = awaited(calls_qa.search)
    propose = awaited(calls_qa.propose)
    validate = awaited(calls_qa.validate)
    report = awaited(calls_qa.report)
    items = awaited(calls_qa.items)
    item = awaited(calls_qa.item)
    approve = awaited(calls_qa.approve)
    reject = awaited(calls_qa.reject)
    undo = awaited(calls_qa.undo)
    all = every_awaited(calls_qa.items)


class AsyncClient:
    """A server, spoken to by HTTP; any number of tasks of one event loop may use one client.

    Without an address it is the server of this machine, found as the command line finds it and looked for again when it
    has moved. None is started.
    """

    def __init__(self, url: str | None = None, *, api_key: str | None = None, patience: Patience | None = None) -> None:
        self._url, self._key = url, api_key
        self._patience = patience or Patience()
        self._place = self._look()
        # A proxy is for other machines.
        self._http = httpx2.AsyncClient(trust_env=not self._place.on_this_machine)
        self.notes = AsyncNotes(self)
        self.qa = AsyncQA(self)

    health = awaited(calls.health)
    projects = awaited(calls.projects)
    save = awaited(calls.save)
    search = awaited(calls.search)
    context = awaited(calls.context)
    observation = awaited(calls.observation)
    observations = awaited(calls.observations)
    observations_by_number = awaited(calls.observations_by_number)
    timeline = awaited(calls.timeline)
    whole_timeline = every_awaited(calls.timeline)
    undo = awaited(calls.undo)
    forget = awaited(calls.forget)

    async def send(self, call: ApiCall[T]) -> T:
        """Make a call that was built by hand."""
        exchange = HttpExchange(call, self._patience)
        while True:
            try:
                outcome = exchange.answered(await self._http.send(exchange.request(self._http, self._place)))
            except httpx2.TransportError as error:
                outcome = exchange.failed(error, self._place)
                self._place = self._look()
            if not isinstance(outcome, Wait):
                return outcome
            await asyncio.sleep(outcome.seconds)

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """Closes at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    def _look(self) -> starting.ServerAddress:
        return starting.found(self._key) if self._url is None else starting.given(self._url, self._key)
