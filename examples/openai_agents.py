"""OpenAI Agents SDK: a conversation that goes on in the next run.

    python examples/openai_agents.py "I am Li, and I deploy on Fridays."
    python examples/openai_agents.py "On which day do I deploy?"

Needs `pip install codexmem-cli openai-agents`, a running server (`codexmem serve`) and `OPENAI_API_KEY`; with
`OPENAI_BASE_URL`, any server that speaks OpenAI's interface.
"""

import os
import sys

from agents import Agent, Runner, set_tracing_disabled

from codexmem.client import Client
from codexmem.client.adapters.openai_agents import CodexmemSession


def main(said: str) -> None:
    """Say something in the conversation `li`, whatever process it was begun in."""
    set_tracing_disabled(True)  # what is said goes to the model and nowhere else
    agent = Agent(name="Assistant", instructions="Answer in one sentence.", model=os.environ.get("MODEL", "gpt-5-mini"))
    with Client() as memory:
        print(Runner.run_sync(agent, said, session=CodexmemSession("li", memory)).final_output)


if __name__ == "__main__":
    main(sys.argv[1])
