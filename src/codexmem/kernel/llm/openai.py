"""Answers to prompts from any server that speaks OpenAI's `/chat/completions`.

Each call stands alone: at most 60 seconds with everything in it and at most 1 MiB. What the server refuses (strict
schemas, names of limits) is left out from then on. How a server is called is `openai_server`'s.
"""

import json
from collections.abc import Callable
from typing import Any

from codexmem.kernel.llm.call_pauses import STRIKES
from codexmem.kernel.llm.model import Check, Completion, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.llm.openai_server import DEFAULT_BASE_URL, PAUSE_S, OpenAIServer, Parts, counted
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker

DEADLINE_S = 60.0
MAX_BYTES = 1 << 20  # of one call, headers included
MAX_PROMPT_CHARS = 100_000
_FORMS = ("json_schema", "json_object", "text")

__all__ = ["DEADLINE_S", "DEFAULT_BASE_URL", "MAX_BYTES", "MAX_PROMPT_CHARS", "STRIKES", "OpenAIModel"]


class OpenAIModel:
    """One model of one server."""

    def __init__(self, model: str, *, base_url: str = DEFAULT_BASE_URL, api_key: str = "",
                 deadline_s: float = DEADLINE_S, max_bytes: int = MAX_BYTES, pause_s: float = PAUSE_S,
                 breaker: Breaker | None = None, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self.name = model
        self.server = OpenAIServer(
            model, base_url=base_url, api_key=api_key, deadline_s=deadline_s, max_bytes=max_bytes, pause_s=pause_s,
            breaker=breaker, now_s=now_s,
        )  # fmt: skip
        # What the server takes, as far as it has refused something. Losing a race here costs one refusal more.
        self._form = 0
        self._limit_name = "max_completion_tokens"
        # Only OpenAI's own server is sure to know the word; its models would think at length about little.
        self._effort: str | None = "low" if base_url == DEFAULT_BASE_URL else None

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r} at {self.server.place!r})"  # never the key

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """One call, or none while the server is known not to answer."""
        if len(prompt.text) > MAX_PROMPT_CHARS:
            raise Unanswered(f"the prompt is longer than {MAX_PROMPT_CHARS:,} characters", Trouble.UNRECOVERABLE)
        return self.server.ask(
            lambda: self._request(prompt), lambda completions, sent: self._read(completions.create(**sent), prompt),
            self._learns, check, text=prompt.text,
        )  # fmt: skip

    def _request(self, prompt: ModelPrompt) -> Parts:
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

    def _read(self, answer: Any, prompt: ModelPrompt) -> Completion:
        if isinstance(answer, str):
            raise self.server.no_json(answer)
        try:
            message = answer.choices[0].message
            text = message.content
            refused = bool(getattr(message, "refusal", None)) or answer.choices[0].finish_reason == "content_filter"
        except (AttributeError, IndexError, KeyError, TypeError):
            raise self.server.broken("no choice in the answer") from None
        if isinstance(text, list):  # some servers answer in parts
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
        if refused and not text:
            raise self.server.declined()
        if not isinstance(text, str):
            raise self.server.broken("no text in the answer")
        usage = getattr(answer, "usage", None)
        return Completion(
            text,
            counted(getattr(usage, "prompt_tokens", None), prompt.text),
            counted(getattr(usage, "completion_tokens", None), text),
        )
