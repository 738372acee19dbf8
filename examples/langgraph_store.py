"""LangGraph: a graph whose long-term memory outlives the process.

    python examples/langgraph_store.py "I am Li, and I deploy on Fridays."
    python examples/langgraph_store.py "On which day do I deploy?"

Needs `pip install codexmem-cli langgraph openai`, a running server (`codexmem serve`) and `OPENAI_API_KEY`; with
`OPENAI_BASE_URL`, any server that speaks OpenAI's interface.
"""

import os
import sys
import uuid
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from openai import OpenAI

from codexmem.client import Client
from codexmem.client.adapters.langgraph import CodexmemStore

ABOUT_LI = ("users", "li")


class State(TypedDict):
    """What goes through the graph."""

    said: str
    answer: str


def answer(state: State, *, store: BaseStore) -> dict[str, str]:
    """Answer with what is remembered of Li, and remember what Li says now."""
    known = store.search(ABOUT_LI, query=state["said"], limit=5)
    facts = "\n".join(f"- {item.value['text']}" for item in known)
    store.put(ABOUT_LI, uuid.uuid4().hex, {"text": state["said"]})
    reply = OpenAI().chat.completions.create(
        model=os.environ.get("MODEL", "gpt-5-mini"),
        messages=[
            {"role": "system", "content": f"Answer in one sentence. What the user said before:\n{facts}"},
            {"role": "user", "content": state["said"]},
        ],
    )
    return {"answer": reply.choices[0].message.content or ""}


def main(said: str) -> None:
    """Run the graph once."""
    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    with Client() as memory:
        print(graph.compile(store=CodexmemStore(memory)).invoke({"said": said, "answer": ""})["answer"])


if __name__ == "__main__":
    main(sys.argv[1])
