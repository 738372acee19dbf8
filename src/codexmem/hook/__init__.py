"""The hook: a program that an agent starts at every step, so that it must be over at once and never fail.

It reads the agent's event, takes out what is private or secret, hands it to the server and prints what the agent may
be told. If the server is away the event is kept on disk and sent later. Standard library and domain only, and of those
only what loads quickly; see docs/decisions/0022-hook.md.
"""
