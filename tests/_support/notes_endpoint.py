"""The tools on notes as a test calls them: the object of an answer, or the text of an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests._support.mcp_calls import Agent, text_of

PERSON = {"X-Codexmem-Person": "1"}


@dataclass(frozen=True)
class NotesEndpoint:
    """One agent, and a domain that no other test writes to."""

    agent: Agent
    domain: str

    def uri(self, path: str) -> str:
        """An address of this test's own."""
        return f"{self.domain}://{path}"

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a program gets from a call that went well."""
        result = self.agent.call(tool, arguments)
        assert not result.is_error, text_of(result)
        told: dict[str, Any] = result.structured_content
        return told

    def text(self, tool: str, **arguments: Any) -> str:
        """What a model gets from a call that went well."""
        return self.agent.text(tool, **arguments)

    def refusal(self, tool: str, **arguments: Any) -> str:
        """What is said about a call that went wrong."""
        result = self.agent.call(tool, arguments)
        assert result.is_error
        return text_of(result)

    def create(self, path: str, content: str = "said", **more: Any) -> dict[str, Any]:
        """A note of this test's own."""
        return self.call("create_memory", uri=self.uri(path), content=content, **more)

    def create_by_person(self, path: str, content: str, priority: int) -> None:
        """A note of this test's own that a person writes: what agents write into the core waits for one."""
        body = {"uri": self.uri(path), "content": content, "priority": priority}
        reply = self.agent.server.post("/api/notes", body, PERSON)
        assert reply.status == 200, reply.json

    def paths(self, told: dict[str, Any], key: str = "memories") -> list[str]:
        """Which of this test's notes an answer lists, in its order."""
        own = f"{self.domain}://"
        return [row["uri"].removeprefix(own) for row in told[key] if row["uri"].startswith(own)]
