"""One model of one server that speaks OpenAI's `/chat/completions`: how it is called, whatever is asked.

Each call has one deadline for everything, a limit of bytes, one further try where that can help soon, and follows no
redirects. A server that keeps failing, costs much time or asks for a pause is left alone for a while. The key goes to
the configured address alone and appears in no message: errors are written here, not passed on. What is asked, and what
is left out because the server refused it, is the caller's.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from codexmem.installation import install_command
from codexmem.kernel.llm.call_pauses import CallPauses
from codexmem.kernel.llm.model import Check, Trouble, Unanswered
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.text_size import tokens
from codexmem.kernel.model.writer import OPENAI_BASE_URL

DEFAULT_BASE_URL = OPENAI_BASE_URL
WAIT_S = 5.0  # the longest that a server's "retry after" is waited for inside a call
PAUSE_S = 1.0  # before the second try, if the server names no time
_SLOW_S, _LONGEST_REST_S = 5.0, 300.0
_MAX_USAGE = 10_000_000  # tokens that a server can be believed to have counted in one call
_NO_KEY = "none"  # servers at home ask for no key, the SDK does
_SLICE_S = 0.25

Parts = dict[str, Any]
T = TypeVar("T")


class OpenAIServer:
    """Where a model answers; every call may come from any thread."""

    def __init__(self, model: str, *, base_url: str, api_key: str, deadline_s: float, max_bytes: int, pause_s: float,
                 breaker: Breaker | None, now_s: Callable[[], float]) -> None:  # fmt: skip
        self.model = model
        self.base_url = base_url
        self.place = urlsplit(base_url).hostname or "?"
        self.deadline_s = deadline_s
        self._key = api_key
        self._max_bytes = max_bytes
        self._pause_s = pause_s
        self._pauses = CallPauses(slow_s=_SLOW_S, longest_rest_s=_LONGEST_REST_S, breaker=breaker, now_s=now_s)
        self._now_s = now_s
        self._made = threading.Lock()
        self._context: Any = None

    def ask(self, request: Callable[[], Parts], send: Callable[[Any, Parts], T],
            learns: Callable[[str, Parts], bool], check: Check, *, text: str,
            deadline_s: float | None = None) -> T:  # fmt: skip
        """One call, or none while the server is known not to answer.

        `send` gets the SDK's completions and a request, and returns the whole answer. If the server refuses a request
        and `learns` says that the next one will leave out what it named, it is asked anew. `text` is all that is sent,
        to estimate what a call that was cut may have cost.
        """
        if not self._key and self.base_url == DEFAULT_BASE_URL:
            hint = "set OPENAI_API_KEY, or CODEXMEM_OPENAI_BASE_URL for a server of your own"
            raise Unanswered("no API key for the model", Trouble.SETUP_REQUIRED, hint=hint)
        self._pauses.require(f"the model server {self.place}")
        began_s = self._now_s()
        deadline_s = self.deadline_s if deadline_s is None else min(deadline_s, self.deadline_s)
        try:
            answer = self._called(request, send, learns, check, text, deadline_s)
        except Unanswered as error:
            self._pauses.failed(error, took_s=self._now_s() - began_s, deadline_s=self.deadline_s)
            raise
        self._pauses.worked()
        return answer

    def prepared(self) -> Any:
        """The certificates to trust, read once: that takes longer than a local call."""
        with self._made:
            if self._context is None:
                try:
                    import httpx2
                    import openai  # noqa: F401
                except ImportError as missing:
                    message, hint = "the openai package is not installed", install_command(anew=True)
                    raise Unanswered(message, Trouble.SETUP_REQUIRED, hint=hint) from missing
                # At debug level these write whole prompts into the log, at info level a line for each request.
                for name in ("openai", "httpx2", "httpcore2"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                self._context = httpx2.create_ssl_context()
            return self._context

    def broken(self, what: str, wait_s: float = 0.0) -> Unanswered:
        """It answered, but not as such a server does; or not at all."""
        return Unanswered(
            f"the model server {self.place} does not answer as expected: {what}",
            Trouble.TRANSIENT,
            hint="check CODEXMEM_OPENAI_BASE_URL and that the server is running",
            wait_s=wait_s,
        )

    def no_json(self, body: str) -> Unanswered:
        """It answered with something else than JSON."""
        if body.lstrip().startswith("<"):
            hint = "check CODEXMEM_OPENAI_BASE_URL: most end in /v1"
            return Unanswered(f"{self.place} answers with a web page", Trouble.SETUP_REQUIRED, hint=hint)
        return self.broken("not JSON")

    def declined(self) -> Unanswered:
        """The model does not want to answer this."""
        return Unanswered(f"the model {self.model} declined to answer", Trouble.UNRECOVERABLE)

    def _called(self, request: Callable[[], Parts], send: Callable[[Any, Parts], T],
                learns: Callable[[str, Parts], bool], check: Check, text: str, deadline_s: float) -> T:  # fmt: skip
        context = self.prepared()
        import openai

        from codexmem.kernel.llm import bounded_http

        call = bounded_http.CallLimits(deadline_s=deadline_s, max_bytes=self._max_bytes, check=check, now_s=self._now_s)
        try:
            # What the environment says about an account at OpenAI is for OpenAI alone.
            allowed = None if self.base_url == DEFAULT_BASE_URL else bounded_http.PLAIN_HEADERS
            with bounded_http.client(call, self.base_url, context, allowed) as http:
                key = self._key or _NO_KEY
                client = openai.OpenAI(
                    api_key=key, base_url=self.base_url, http_client=http, max_retries=0,
                    default_headers={"Authorization": f"Bearer {key}"},
                )  # fmt: skip
                return self._asked(client.chat.completions, request, send, learns, call.left_s)
        except Unanswered:
            raise
        except Exception as error:
            # Libraries in between wrap what our own limits raised; the call remembers it.
            ended = call.stopped_by or error
            if isinstance(ended, bounded_http.TooSlow):
                message = f"the model server {self.place} did not answer within {deadline_s:g} s"
                # The server may well have worked for it.
                raise Unanswered(message, Trouble.TRANSIENT, prompt_tokens=tokens(text)) from None
            if isinstance(ended, bounded_http.CallAborted):
                raise self.broken(str(ended)) from None
            if call.stopped_by is not None:
                raise call.stopped_by from None
            raise self.broken(type(error).__name__) from None

    def _asked(self, completions: Any, request: Callable[[], Parts], send: Callable[[Any, Parts], T],
               learns: Callable[[str, Parts], bool], left_s: Callable[[], float]) -> T:  # fmt: skip
        """One answer, with one further try if that can help soon, and without what the server refuses."""
        import openai

        tried_again = False
        while True:
            left_s()
            sent = request()
            try:
                return send(completions, sent)
            except openai.BadRequestError as error:
                if not learns(str(error.body)[:10_000].lower(), sent):
                    raise self._meant(error) from None
            except openai.APIError as error:
                meant = self._meant(error)
                wait_s = meant.wait_s or self._pause_s
                soon = wait_s <= WAIT_S and wait_s < left_s()
                if tried_again or meant.trouble not in {Trouble.TRANSIENT, Trouble.RATE_LIMIT} or not soon:
                    raise meant from None
                tried_again = True
                self._rest(wait_s, left_s)

    @staticmethod
    def _rest(seconds: float, left_s: Callable[[], float]) -> None:
        until = ids.monotonic() + seconds
        while (more := until - ids.monotonic()) > 0:
            time.sleep(min(_SLICE_S, more, left_s()))

    def _meant(self, error: Any) -> Unanswered:
        """The error in our words and classes."""
        import openai

        place = f"the model server {self.place}"
        if isinstance(error, openai.APIConnectionError):  # a time-out is one too
            return self.broken("no connection")
        status = getattr(error, "status_code", 0)
        said = {str(getattr(error, "code", "")), str(getattr(error, "type", ""))}
        if status == 402 or "insufficient_quota" in said:
            hint = "top up the account, or set CODEXMEM_PROVIDER=rules"
            return Unanswered(f"{place} says that the quota is used up", Trouble.QUOTA_EXHAUSTED, hint=hint)
        if status in (401, 403):
            hint = "check CODEXMEM_OPENAI_API_KEY or OPENAI_API_KEY"
            return Unanswered(f"{place} refuses the API key", Trouble.AUTH_INVALID, hint=hint)
        if status in (404, 405) or 300 <= status < 400:
            hint = "check CODEXMEM_OPENAI_MODEL and CODEXMEM_OPENAI_BASE_URL; redirects are not followed"
            return Unanswered(f"{place} has no model {self.model} there", Trouble.SETUP_REQUIRED, hint=hint)
        if status == 429:
            return Unanswered(f"{place} asks for fewer requests", Trouble.RATE_LIMIT, wait_s=_wait_s(error))
        if 400 <= status < 500 and status not in (408, 409, 425):
            return Unanswered(f"{place} refuses the prompt (status {status})", Trouble.UNRECOVERABLE)
        return self.broken(f"status {status}" if status else type(error).__name__, _wait_s(error))


def counted(said: object, text: str) -> int:
    """What the server counted, if that can be; else our estimate."""
    if isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= _MAX_USAGE:
        return said
    return tokens(text)


def _wait_s(error: Any) -> float:
    """How long the server asks to wait; 0 if it does not say. A date is taken as a minute: clocks differ."""
    response = getattr(error, "response", None)
    said = response.headers.get("retry-after", "") if response is not None else ""
    try:
        return max(0.0, float(said)) if said else 0.0
    except ValueError:
        return 60.0
