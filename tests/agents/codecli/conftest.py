"""A policy of two words, a memory of one sentence, and a person's agents ready to be driven."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codexmem.codecli.agents.protocol import Injection, Launch, Wiring
from codexmem.codecli.hook_socket import HookSocket, open_hook_socket
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict
from tests._support.scripted_model import ScriptedModel
from tests.agents.installation import Installation
from tests.agents.person import Person

FORBIDDEN = "forbidden.txt"
REASON = f"{FORBIDDEN} is not yours; 请换一种办法。"
MEMORY = "The gateway needs 20 seconds 网关 [QA_REF qa-7]"


class Judge:
    """Denies what names a forbidden file; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ToolRequest] = []

    def __call__(self, request: ToolRequest) -> ToolDecision:
        self.asked.append(request)
        if FORBIDDEN in request.command or any(FORBIDDEN in path for path in request.paths):
            return ToolDecision(Verdict.DENY, REASON)
        return ToolDecision(Verdict.ALLOW, "fine")


def text_of(path: str) -> str | None:
    """A file of the person's."""
    return Path(path).read_text() if Path(path).is_file() else None


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def endpoint(judge: Judge) -> Iterator[HookSocket]:
    with open_hook_socket(judge) as endpoint:
        yield endpoint


@pytest.fixture
def wiring(judge: Judge, endpoint: HookSocket) -> Wiring:
    """Holds tools to the judge, and recalls one sentence, as instructions and before the prompt."""

    def recall(prompt: str) -> Injection:
        return Injection(f"SYSTEM {MEMORY}", f"USER {MEMORY}") if prompt else Injection()

    return Wiring(judge, recall, endpoint.command, "both", text_of=text_of, keep=endpoint.keep)


@pytest.fixture
def codex_launch(installation: Installation, person: Person) -> Callable[..., Launch]:
    """The person's Codex with these arguments."""

    def launch(*arguments: str) -> Launch:
        environ = person.environment(SCRIPTED_KEY="x")
        return Launch((str(installation.codex), *arguments), environ, str(person.repository))

    return launch


@pytest.fixture
def qwen_launch(installation: Installation, person: Person, model: ScriptedModel) -> Callable[..., Launch]:
    """The person's Qwen Code with these arguments."""

    def launch(*arguments: str) -> Launch:
        environ = person.environment(
            OPENAI_API_KEY="x", OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted", QWEN_CODE_NO_RELAUNCH="true",
            NODE_COMPILE_CACHE=str(installation.compiled),
        )  # fmt: skip
        command = (str(installation.node), str(installation.qwen), "--auth-type", "openai", *arguments)
        return Launch(command, environ, str(person.repository))

    return launch
