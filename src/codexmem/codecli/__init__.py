"""`mem-codecli`: runs a coding agent and stands between it and its person, remembering for both.

The commands are in `codexmem.codecli.cli`; here is what they do.
"""
