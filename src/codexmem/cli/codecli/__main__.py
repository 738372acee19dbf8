"""`python -m codexmem.cli.codecli` is the `mem-codecli` command."""

from codexmem.cli.codecli import main

main()
