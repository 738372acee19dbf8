"""The lab, as a room."""

from codexmem.kernel.feature import Feature

FEATURE = Feature(
    "lab",
    build="codexmem.lab.build_feature:build",
    configured=True,
    surfaces=("codexmem.lab.http:SURFACE",),
    commands={
        "group.lab": {
            "lab": "codexmem.lab.cli.command:lab",
            "batch": "codexmem.lab.cli.batch:batch",
            "run": "codexmem.lab.cli.run:run",
            "rb": "codexmem.lab.cli.rb:rb",
            "product": "codexmem.lab.cli.products:product",
            "preset": "codexmem.lab.cli.products:preset",
        }
    },
)
