"""Readers of what coding agents keep of their conversations. They only read: no store, no network, no program."""
