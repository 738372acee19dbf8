"""Memories as files of a repository, as a room."""

from codexmem.kernel.feature import Feature

FEATURE = Feature(
    "sync",
    build="codexmem.sync.service:build",
    surfaces=("codexmem.sync.http:SURFACE",),
    commands={"group.notes": {"sync": "codexmem.sync.cli.command:sync"}},
)
