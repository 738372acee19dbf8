"""`python -m codexmem.cli` is the `codexmem` command."""

from codexmem.cli import main

main()
