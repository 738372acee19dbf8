"""`python -m codexmem.codecli.cli` is the `mem-codecli` command."""

from codexmem.codecli.cli import main

main()
