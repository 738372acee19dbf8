"""What the interfaces that recall share: how a question is put, and how what was found is told, as rows or as text.

HTTP and MCP of contract 000 say the same things in two protocols; they differ in envelopes only.
"""
