"""The verbs: a surface asks a service, a service asks the store; only `memories` and `history` are shared."""
