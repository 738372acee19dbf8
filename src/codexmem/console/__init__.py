"""The frame of the commands: help, output, texts, and how a command reaches the store."""
