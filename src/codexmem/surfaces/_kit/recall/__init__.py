"""What the doors that recall share: how a question is put, and how what was found is told, as rows or as text.

The HTTP door and the MCP door of contract 000 say the same things in two protocols; they differ in envelopes only.
"""
