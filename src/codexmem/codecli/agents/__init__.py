"""One module per protocol that agents speak, each a state machine over bytes and lines, without input or output.

`choosing.choose` says which of them reads an agent; `protocol` says what they have in common.
"""
