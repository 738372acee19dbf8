"""What `mem-codecli run` says, in English."""

RUN: dict[str, str] = {
    "codecli.run.short": "Run the agent, with memory and policy where they are switched on",
    "codecli.run.help": "Run the agent. Without any option it is only passed through, byte for byte. Our options stand "
    "before the agent's own arguments; -- ends them. The exit code is the agent's; 127 if there is no agent.",
    "codecli.run.example": 'mem-codecli run -- exec "fix the failing test"\n'
    'mem-codecli run --memory-on --project-id shop -- exec "why does the build fail"\n'
    'mem-codecli run --memory-on --explain -- exec "why does the build fail"',
    "codecli.run.memory_on": "Whether memory is searched before, and told afterwards; off unless configured.",
    "codecli.run.inject_mode": "Where memories go in: system, user or both.",
    "codecli.run.gatekeeper": "Which answers become candidates: off (none), soft (with a strong signal), hard (all "
    "that keep the rules).",
    "codecli.run.audit": "Who decides about the agent's tools: off (nobody), prompt (policy, then you), auto (policy).",
    "codecli.run.redact": "How much is masked before anything is kept or sent: off, basic or strict.",
    "codecli.run.stream_format": "How the agent's output is read: auto, text, jsonl or sse.",
    "codecli.run.tui": "Show a line under the agent's output with what we are doing.",
    "codecli.run.trace_json": "Append what the run did to this file, as JSON lines; - is standard error.",
    "codecli.run.record": "Record the run in this file, to be played again with: mem-codecli replay FILE",
    "codecli.run.explain": "Show query, memories, injection and rules; do not run the agent.",
    "codecli.run.resembles": "{name} is no option of ours; did you mean {near}?",
    "codecli.run.dashes": "if it is meant for the agent, write: mem-codecli run -- {name}",
    "codecli.run.no_terminal": "--tui needs a terminal; it is left out",
    "codecli.run.explain.command": "would run: {command}\nread by the adapter {adapter}, project {project}",
    "codecli.run.explain.memory_off": "memory is off; switch it on with --memory-on",
    "codecli.run.explain.query": "query:",
    "codecli.run.explain.nothing": "(nothing)",
    "codecli.run.explain.problem": "without memory: {problem}",
    "codecli.run.explain.items": "memories found: {count}",
    "codecli.run.explain.injection": "injection ({mode}):",
    "codecli.run.explain.gatekeeper": "gatekeeper ({mode}):",
    "codecli.run.explain.later": "judged when there is an answer",
    "codecli.run.explain.off": "nothing is written: the gatekeeper is off",
    "codecli.run.explain.soft": "written after a strong signal: a test or build that passes, your confirmation in the "
    "next turn, or mem-codecli confirm",
    "codecli.run.explain.hard": "written if all four rules are kept",
    "codecli.run.waits": "this answer is not kept: {why}; if it is right: mem-codecli confirm",
    "codecli.confirm.short": "Keep the last answer: it is right",
    "codecli.confirm.help": "Say that the last answer of the agent in this project and folder is right. It is written "
    "to the memory as proven. Only an answer that kept every rule of the gatekeeper waits for this.",
    "codecli.confirm.example": "mem-codecli confirm\nmem-codecli confirm --project-id shop",
    "codecli.confirm.done": "kept as {qa_id} ({status}): {question}",
    "codecli.run.explain.policy": "tools: audit {audit}, policy mode {mode}, allowed without a rule up to {risk}",
    "codecli.run.explain.not_run": "the agent was not run",
}
