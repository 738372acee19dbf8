"""Pydantic AI: an agent that decides itself what to remember, and is told what bears on the question.

    python examples/pydantic_ai_memory.py "I am Li, and I deploy on Fridays. Remember that."
    python examples/pydantic_ai_memory.py "On which day do I deploy?"

Needs `pip install codexmem-cli "pydantic-ai-slim[openai]"`, a running server (`codexmem serve`) and `OPENAI_API_KEY`;
with `OPENAI_BASE_URL`, any server that speaks OpenAI's interface. What it saves belongs to the project `assistant`,
with what coding agents learn there: one memory for all of them.
"""

import os
import sys

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel

from codexmem.client import Client

PROJECT = "assistant"

agent = Agent(OpenAIChatModel(os.environ.get("MODEL", "gpt-5-mini")), deps_type=Client)


@agent.instructions
def what_is_known(run: RunContext[Client]) -> str:
    """Before every answer: what the memory holds about this question."""
    return f"Answer in one sentence.\n{run.deps.context(str(run.prompt), project=PROJECT)}"


@agent.tool
def remember(run: RunContext[Client], fact: str) -> str:
    """Remember a fact for later conversations."""
    return run.deps.save(fact, project=PROJECT).message


def main(said: str) -> None:
    """Ask once."""
    with Client() as memory:
        print(agent.run_sync(said, deps=memory).output)


if __name__ == "__main__":
    main(sys.argv[1])
