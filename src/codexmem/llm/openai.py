"""Answers from any server that speaks OpenAI's `/chat/completions`.

Each call stands alone: at most 60 seconds with everything in it, at most 1 MiB, one further try where that can help
soon, no redirects. A server that keeps failing, costs much time or asks for a pause is left alone for a while. What it
refuses (strict schemas, names of limits) is left out from then on. The key goes to the configured address alone and
appears in no message: errors are written here, not passed on.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from codexmem.domain import ids
from codexmem.domain.breaker import Breaker
from codexmem.domain.text_size import tokens
from codexmem.llm.model import Answer, Check, Prompt, Trouble, Unanswered

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEADLINE_S = 60.0
MAX_BYTES = 1 << 20  # of one call, headers included
MAX_PROMPT_CHARS = 100_000
WAIT_S = 5.0  # the longest that a server's "retry after" is waited for inside a call
PAUSE_S = 1.0  # before the second try, if the server names no time
STRIKES = 3  # quick failures in a row after which the server is left alone
SLOW_S = 5.0  # a failure that took so long is enough
_LONGEST_REST_S = 300.0
_SOMEBODY_MUST_ACT = frozenset({Trouble.AUTH_INVALID, Trouble.QUOTA_EXHAUSTED, Trouble.SETUP_REQUIRED})
_MAX_USAGE = 10_000_000  # tokens that a server can be believed to have counted in one call
_NO_KEY = "none"  # servers at home ask for no key, the SDK does
_FORMS = ("json_schema", "json_object", "text")
_SLICE_S = 0.25

Parts = dict[str, Any]


class OpenAIModel:
    """One model of one server."""

    def __init__(self, model: str, *, base_url: str = DEFAULT_BASE_URL, api_key: str = "",
                 deadline_s: float = DEADLINE_S, max_bytes: int = MAX_BYTES, pause_s: float = PAUSE_S,
                 breaker: Breaker | None = None, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self.name = model
        self._base_url = base_url
        self._place = urlsplit(base_url).hostname or "?"
        self._key = api_key
        self._deadline_s = deadline_s
        self._max_bytes = max_bytes
        self._pause_s = pause_s
        self._breaker = breaker or Breaker()
        self._now_s = now_s
        self._made = threading.Lock()
        self._context: Any = None
        self._last = Trouble.TRANSIENT
        self._strikes = 0
        self._rest_until_s = 0.0
        # What the server takes, as far as it has refused something. Losing a race here costs one refusal more.
        self._form = 0
        self._limit_name = "max_completion_tokens"
        # Only OpenAI's own server is sure to know the word; its models would think at length about little.
        self._effort: str | None = "low" if base_url == DEFAULT_BASE_URL else None

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r} at {self._place!r})"  # never the key

    def answer(self, prompt: Prompt, check: Check) -> Answer:
        """One call, or none while the server is known not to answer."""
        if len(prompt.text) > MAX_PROMPT_CHARS:
            raise Unanswered(f"the prompt is longer than {MAX_PROMPT_CHARS:,} characters", Trouble.UNRECOVERABLE)
        if not self._key and self._base_url == DEFAULT_BASE_URL:
            hint = "set OPENAI_API_KEY, or CODEXMEM_OPENAI_BASE_URL for a server of your own"
            raise Unanswered("no API key for the model", Trouble.SETUP_REQUIRED, hint=hint)
        began_s = self._now_s()
        if began_s < self._rest_until_s or not self._breaker.lets(began_s):
            message = f"the model server {self._place} did not answer lately and is not asked just now"
            raise Unanswered(message, self._last)
        try:
            answer = self._called(prompt, check)
        except Unanswered as error:
            self._note(error, self._now_s() - began_s)
            raise
        self._strikes = 0
        self._breaker.worked()
        return answer

    def _note(self, error: Unanswered, took_s: float) -> None:
        """Draw the consequences of a failure for the calls to come."""
        if error.trouble is Trouble.UNRECOVERABLE:
            self._strikes = 0
            self._breaker.worked()  # it answers, and may like the next prompt better
            return
        self._last = error.trouble
        self._strikes += 1
        now_s = self._now_s()
        if error.wait_s > 0:
            self._rest_until_s = now_s + min(error.wait_s, _LONGEST_REST_S)
        slow = took_s >= min(SLOW_S, self._deadline_s / 2)
        if slow or error.trouble in _SOMEBODY_MUST_ACT or self._strikes >= STRIKES:
            self._breaker.failed(now_s)

    def _called(self, prompt: Prompt, check: Check) -> Answer:
        context = self._prepared()
        import openai

        from codexmem.llm import bounded_http

        call = bounded_http.Call(deadline_s=self._deadline_s, max_bytes=self._max_bytes, check=check, now_s=self._now_s)
        try:
            # What the environment says about an account at OpenAI is for OpenAI alone.
            allowed = None if self._base_url == DEFAULT_BASE_URL else bounded_http.PLAIN_HEADERS
            with bounded_http.client(call, self._base_url, context, allowed) as http:
                key = self._key or _NO_KEY
                client = openai.OpenAI(
                    api_key=key, base_url=self._base_url, http_client=http, max_retries=0,
                    default_headers={"Authorization": f"Bearer {key}"},
                )  # fmt: skip
                return self._asked(client.chat.completions, prompt, call.left_s)
        except Unanswered:
            raise
        except Exception as error:
            # Libraries in between wrap what our own limits raised; the call remembers it.
            ended = call.stopped_by or error
            if isinstance(ended, bounded_http.TooSlow):
                paid = tokens(prompt.text)  # the server may well have worked for it
                message = f"the model server {self._place} did not answer within {self._deadline_s:g} s"
                raise Unanswered(message, Trouble.TRANSIENT, prompt_tokens=paid) from None
            if isinstance(ended, bounded_http.Cut):
                raise self._broken(str(ended)) from None
            if call.stopped_by is not None:
                raise call.stopped_by from None
            raise self._broken(type(error).__name__) from None

    def _asked(self, completions: Any, prompt: Prompt, left_s: Callable[[], float]) -> Answer:
        """One answer, with one further try if that can help soon, and without what the server refuses."""
        import openai

        tried_again = False
        while True:
            left_s()
            sent = self._request(prompt)
            try:
                return self._read(completions.create(**sent), prompt)
            except openai.BadRequestError as error:
                if not self._learns(str(error.body)[:10_000].lower(), sent):
                    raise self._meant(error) from None
            except openai.APIError as error:
                meant = self._meant(error)
                wait_s = meant.wait_s or self._pause_s
                soon = wait_s <= WAIT_S and wait_s < left_s()
                if tried_again or meant.trouble not in {Trouble.TRANSIENT, Trouble.RATE_LIMIT} or not soon:
                    raise meant from None
                tried_again = True
                self._rest(wait_s, left_s)

    def _request(self, prompt: Prompt) -> Parts:
        form = _FORMS[self._form]
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        sent: Parts = {"model": self.name, "messages": messages, self._limit_name: prompt.max_tokens}
        if form == "json_schema":
            schema = {"name": prompt.schema_name, "strict": True, "schema": prompt.schema}
            sent["response_format"] = {"type": form, "json_schema": schema}
        else:
            wanted = json.dumps(prompt.schema, separators=(",", ":"))
            messages[0]["content"] += f"\n\nAnswer with one JSON object that fits this JSON schema:\n{wanted}"
            if form == "json_object":
                sent["response_format"] = {"type": form}
        if self._effort:
            sent["reasoning_effort"] = self._effort
        return sent

    def _learns(self, said: str, sent: Parts) -> bool:
        """Whether the refusal names something that can be left out; it then is, also in calls to come."""
        if "response_format" in sent and ("response_format" in said or "json_schema" in said):
            self._form = min(_FORMS.index(sent["response_format"]["type"]) + 1, len(_FORMS) - 1)
            return True
        if "max_completion_tokens" in sent and "max_completion_tokens" in said:
            self._limit_name = "max_tokens"
            return True
        if "reasoning_effort" in sent and "reasoning_effort" in said:
            self._effort = None
            return True
        return False

    def _read(self, answer: Any, prompt: Prompt) -> Answer:
        if isinstance(answer, str):
            if answer.lstrip().startswith("<"):
                hint = "check CODEXMEM_OPENAI_BASE_URL: most end in /v1"
                raise Unanswered(f"{self._place} answers with a web page", Trouble.SETUP_REQUIRED, hint=hint)
            raise self._broken("not JSON")
        try:
            message = answer.choices[0].message
            text = message.content
            refused = bool(getattr(message, "refusal", None)) or answer.choices[0].finish_reason == "content_filter"
        except (AttributeError, IndexError, KeyError, TypeError):
            raise self._broken("no choice in the answer") from None
        if isinstance(text, list):  # some servers answer in parts
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
        if refused and not text:
            raise Unanswered(f"the model {self.name} declined to answer", Trouble.UNRECOVERABLE)
        if not isinstance(text, str):
            raise self._broken("no text in the answer")
        usage = getattr(answer, "usage", None)
        return Answer(
            text,
            _counted(getattr(usage, "prompt_tokens", None), prompt.text),
            _counted(getattr(usage, "completion_tokens", None), text),
        )

    def _prepared(self) -> Any:
        """The certificates to trust, read once: that takes longer than a local call."""
        with self._made:
            if self._context is None:
                try:
                    import httpx2
                    import openai  # noqa: F401
                except ImportError as missing:
                    message, hint = "the openai package is not installed", "pip install openai"
                    raise Unanswered(message, Trouble.SETUP_REQUIRED, hint=hint) from missing
                # At debug level these write whole prompts into the log, at info level a line for each request.
                for name in ("openai", "httpx2", "httpcore2"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                self._context = httpx2.create_ssl_context()
            return self._context

    @staticmethod
    def _rest(seconds: float, left_s: Callable[[], float]) -> None:
        until = ids.monotonic() + seconds
        while (more := until - ids.monotonic()) > 0:
            time.sleep(min(_SLICE_S, more, left_s()))

    def _meant(self, error: Any) -> Unanswered:
        """The error in our words and classes."""
        import openai

        place = f"the model server {self._place}"
        if isinstance(error, openai.APIConnectionError):  # a time-out is one too
            return self._broken("no connection")
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
            return Unanswered(f"{place} has no model {self.name} there", Trouble.SETUP_REQUIRED, hint=hint)
        if status == 429:
            return Unanswered(f"{place} asks for fewer requests", Trouble.RATE_LIMIT, wait_s=_wait_s(error))
        if 400 <= status < 500 and status not in (408, 409, 425):
            return Unanswered(f"{place} refuses the prompt (status {status})", Trouble.UNRECOVERABLE)
        return self._broken(f"status {status}" if status else type(error).__name__, _wait_s(error))

    def _broken(self, what: str, wait_s: float = 0.0) -> Unanswered:
        return Unanswered(
            f"the model server {self._place} does not answer as expected: {what}",
            Trouble.TRANSIENT,
            hint="check CODEXMEM_OPENAI_BASE_URL and that the server runs",
            wait_s=wait_s,
        )


def _wait_s(error: Any) -> float:
    """How long the server asks to wait; 0 if it does not say. A date is taken as a minute: clocks differ."""
    response = getattr(error, "response", None)
    said = response.headers.get("retry-after", "") if response is not None else ""
    try:
        return max(0.0, float(said)) if said else 0.0
    except ValueError:
        return 60.0


def _counted(said: object, text: str) -> int:
    """What the server counted, if that can be; else our estimate."""
    if isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= _MAX_USAGE:
        return said
    return tokens(text)
