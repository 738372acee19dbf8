"""Questions with answers, as a room."""

from codexmem.kernel.feature import Feature

FEATURE = Feature(
    "qa",
    build="codexmem.qa.service:build",
    surfaces=("codexmem.qa.http:SURFACE",),
    commands={"group.notes": {"qa": "codexmem.qa.cli:qa"}},
)
