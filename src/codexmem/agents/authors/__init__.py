"""The person's own agent as a model that writes memories: with their login, one run of the program for each answer.

`model.agent_model` gives the model, `process` runs a program within its limits, and each agent has a module with what
is special about it: its command line, where its answer is, how its troubles read. A run is no session of the person's:
it has no hooks, no MCP servers and no tools, works in an empty folder, and leaves no session behind where the program
can be told so. Its environment says besides that codexmem itself is asking, so that our own programs keep silent.
"""

# In the order in which they are looked for; the modules have the same names with underscores.
NAMES = ("codex", "claude-code", "qwen-code", "gemini-cli", "opencode")
