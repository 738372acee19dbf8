"""`Client`: every call waits for its answer."""

from __future__ import annotations

import time
from typing import Self, TypeVar

import httpx2

from codexmem.client import calls, calls_qa, starting
from codexmem.client.call import ApiCall, Sends, every, now
from codexmem.client.exchange import HttpExchange, Patience, Wait

T = TypeVar("T")


class NotesClient:
    """Memories with an address."""

    def __init__(self, client: Sends) -> None:
        self.send = client.send

    create = now(calls.create)
    read = now(calls.read)
    update = now(calls.update)
    patch = now(calls.patch)
    delete = now(calls.delete)
    restore = now(calls.restore)
    rollback = now(calls.rollback)
    find = now(calls.find)
    tree = now(calls.tree)
    versions = now(calls.versions)
    version = now(calls.version)
    add_alias = now(calls.add_alias)
    remove_alias = now(calls.remove_alias)
    all = every(calls.find)
    whole_tree = every(calls.tree)
    all_versions = every(calls.versions)


class QA:
    """Questions with answers."""

    def __init__(self, client: Sends) -> None:
        self.send = client.send

    search = now(calls_qa.search)
    propose = now(calls_qa.propose)
    validate = now(calls_qa.validate)
    report = now(calls_qa.report)
    items = now(calls_qa.items)
    item = now(calls_qa.item)
    approve = now(calls_qa.approve)
    reject = now(calls_qa.reject)
    undo = now(calls_qa.undo)
    all = every(calls_qa.items)


class Client:
    """A server, spoken to by HTTP; any number of threads may use one client.

    Without an address it is the server of this machine, found as the command line finds it and looked for again when it
    has moved. None is started.
    """

    def __init__(self, url: str | None = None, *, api_key: str | None = None, patience: Patience | None = None) -> None:
        self._url, self._key = url, api_key
        self._patience = patience or Patience()
        self._place = self._look()
        # A proxy is for other machines.
        self._http = httpx2.Client(trust_env=not self._place.on_this_machine)
        self.notes = NotesClient(self)
        self.qa = QA(self)

    health = now(calls.health)
    projects = now(calls.projects)
    save = now(calls.save)
    search = now(calls.search)
    context = now(calls.context)
    observation = now(calls.observation)
    observations = now(calls.observations)
    observations_by_number = now(calls.observations_by_number)
    timeline = now(calls.timeline)
    whole_timeline = every(calls.timeline)
    undo = now(calls.undo)
    forget = now(calls.forget)

    def send(self, call: ApiCall[T]) -> T:
        """Make a call that was built by hand."""
        exchange = HttpExchange(call, self._patience)
        while True:
            try:
                outcome = exchange.answered(self._http.send(exchange.request(self._http, self._place)))
            except httpx2.TransportError as error:
                outcome = exchange.failed(error, self._place)
                self._place = self._look()
            if not isinstance(outcome, Wait):
                return outcome
            time.sleep(outcome.seconds)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        """Closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _look(self) -> starting.ServerAddress:
        return starting.found(self._key) if self._url is None else starting.given(self._url, self._key)
