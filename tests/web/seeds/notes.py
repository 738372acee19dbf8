"""Notes as agents keep them, written with an MCP client, and memories of other kinds that can be traced."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import mcp_types as types
from mcp import Client

from tests._support import warm
from tests._support.mcp_calls import Agent, text_of
from tests._support.server import Server, environment

FIRST = "# Deployment\n\nThe port is **8080**.\n\n- host: `web-1`\n- 端口：8080\n- see {domain}://deploy/steps\n"
SECOND = FIRST.replace("8080", "37877")


@dataclass(frozen=True)
class Notebook:
    """One agent that speaks MCP over HTTP, and a domain that no other test writes to."""

    server: Server
    domain: str

    def uri(self, path: str) -> str:
        """An address of its own."""
        return f"{self.domain}://{path}"

    def talk(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Calls of tools, one after another, by one client."""

        async def conversation(client: Client) -> list[types.CallToolResult]:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

        # In a thread of its own, because a browser's loop runs in this one.
        with ThreadPoolExecutor(1) as apart:
            results = apart.submit(Agent(self.server, "http-new").run, conversation).result()
        for result in results:
            assert not result.is_error, text_of(result)
        return [result.structured_content for result in results]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """One call of one tool."""
        (told,) = self.talk((tool, arguments))
        return told

    def create(self, path: str, content: str, **more: Any) -> dict[str, Any]:
        """A new note."""
        return self.call("create_memory", uri=self.uri(path), content=content, **more)

    def says(self, path: str) -> str:
        """What an agent reads at this address."""
        content: str = self.call("read_memory", uri=self.uri(path))["content"]
        return content

    def stands(self, path: str) -> str:
        """What stands at this address, by the shortest way."""
        content: str = self.server.request("GET", f"/api/notes/read?uri={quote(self.uri(path))}").json["content"]
        return content

    def adds(self, path: str, content: str) -> dict[str, Any]:
        """A new note, by the shortest way."""
        reply = self.server.post("/api/notes", {"uri": self.uri(path), "content": content})
        assert reply.status == 200, reply.body
        made: dict[str, Any] = reply.json
        return made

    def writes(self, path: str, content: str) -> None:
        """Somebody else's version, by the shortest way."""
        reply = self.server.post("/api/notes/update", {"uri": self.uri(path), "content": content})
        assert reply.status == 200, reply.body

    def command(self, *words: str) -> Any:
        """What `codexmem … --json` answers."""
        env = environment(self.server.data_dir, CODEXMEM_URL=f"http://127.0.0.1:{self.server.port}")
        line = [warm.program("codexmem"), "--json", *words]
        done = subprocess.run(line, env=env, capture_output=True, check=True, timeout=30)
        return json.loads(done.stdout)


def kept(server: Server, domain: str) -> Notebook:
    """A small memory: a configuration with a history, an alias and relations both ways, a tree, two languages."""
    log = Notebook(server, domain)
    config = log.uri("config")
    steps = f"1. read {config}\n2. restart\n3. {log.uri('deploy/rollback')}"
    log.talk(
        ("create_memory", {"uri": config, "content": FIRST.format(domain=domain), "priority": 2,
                           "disclosure": "when deploying"}),
        ("update_memory", {"uri": config, "content": SECOND.format(domain=domain)}),
        ("update_memory", {"uri": config, "content": "\nAsk before you change it.", "append": True}),
        ("add_alias", {"target_uri": config, "alias_uri": log.uri("port")}),
        ("create_memory", {"uri": log.uri("deploy/steps"), "content": steps, "priority": 4}),
        ("create_memory", {"uri": log.uri("配置/数据库/连接"), "content": f"连接池大小为 20。见 {config}",
                           "priority": 3, "disclosure": "连接数据库时"}),
        ("create_memory", {"uri": log.uri("配置/语言"), "content": "界面语言：中文与英文。", "priority": 6}),
    )  # fmt: skip
    return log
