// What an agent needs in its own configuration to report what it does, as the guides of the product give it.
export type AgentSetup = { name: string; file: string; config: string };

const CODEX = `[hooks]
SessionStart = [{ hooks = [{ type = "command", command = "codexmem-hook codex context", timeout = 10 }] }]
UserPromptSubmit = [{ hooks = [{ type = "command", command = "codexmem-hook codex session-init", timeout = 10 }] }]
PostToolUse = [{ hooks = [{ type = "command", command = "codexmem-hook codex observation", timeout = 10 }] }]
Stop = [{ hooks = [{ type = "command", command = "codexmem-hook codex summarize", timeout = 10 }] }]
SessionEnd = [{ hooks = [{ type = "command", command = "codexmem-hook codex session-complete", timeout = 3 }] }]`;

const CURSOR = `{
  "version": 1,
  "hooks": {
    "sessionStart": [{ "command": "codexmem-hook cursor context" }],
    "beforeSubmitPrompt": [{ "command": "codexmem-hook cursor session-init" }],
    "postToolUse": [{ "command": "codexmem-hook cursor observation" }],
    "afterAgentResponse": [{ "command": "codexmem-hook cursor summarize" }],
    "sessionEnd": [{ "command": "codexmem-hook cursor session-complete" }]
  }
}`;

/** A hook of Claude Code: one event, one command. */
function claude(event: string, ours: string, timeout = 10, matcher = ''): string {
  const hook = `{ "type": "command", "command": "codexmem-hook claude-code ${ours}", "timeout": ${timeout} }`;
  return `    "${event}": [{ ${matcher}"hooks": [${hook}] }]`;
}

const CLAUDE = `{
  "hooks": {
${[
  claude('SessionStart', 'context'),
  claude('UserPromptSubmit', 'session-init'),
  claude('PostToolUse', 'observation', 10, '"matcher": "*", '),
  claude('Stop', 'summarize'),
  claude('SessionEnd', 'session-complete', 3),
].join(',\n')}
  }
}`;

export const AGENTS: readonly AgentSetup[] = [
  { name: 'Claude Code', file: '~/.claude/settings.json', config: CLAUDE },
  { name: 'Codex', file: '~/.codex/config.toml', config: CODEX },
  { name: 'Cursor', file: '~/.cursor/hooks.json', config: CURSOR },
];

/** An event by hand, through the program that agents call. */
export const FIRST_EVENT = `echo '{"session_id": "first", "prompt": "Remember this"}' | codexmem-hook raw session-init`;
