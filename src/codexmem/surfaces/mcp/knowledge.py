"""The toolset of contract 003: a knowledge base and task workspaces. Not among the usual ones."""

import json
from typing import Any

from codexmem.surfaces._kit.knowledge import VERBS, Asked, Services, Verb
from codexmem.surfaces._kit.params import parsed
from codexmem.surfaces.mcp.tool import Call, Said, Tool, Toolset, schema_of


def _tool(verb: Verb[Any]) -> Tool[Services]:
    fields = verb.parameters.model_fields

    def answer(services: Services, call: Call) -> Said:
        # Models give more than they are asked for; what no parameter is called is passed over.
        given = {name: value for name, value in call.arguments.items() if name in fields}
        told = verb.answer(services, parsed(verb.parameters, given), Asked(call.actor))
        return Said(json.dumps(told, ensure_ascii=False), told)

    needed = [name for name, field in fields.items() if field.is_required()]
    return Tool(
        verb.name, verb.title, verb.description, schema_of(verb.parameters, *needed), answer,
        reads_only=verb.reads_only,
    )  # fmt: skip


KNOWLEDGE: Toolset[Services] = Toolset(
    "knowledge",
    tuple(_tool(verb) for verb in VERBS),
    "Knowledge that outlives a task goes into the knowledge base (memory_add, memory_query); a task's own files go "
    "into its workspace (memory_init_workspace first, memory_cleanup last).",
)
