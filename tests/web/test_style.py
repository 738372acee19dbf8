"""The shape of the application's sources: what no compiler checks."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.web.building import LOCK, NODE, SCHEMA, WEB, environment

MAX_LINES = 400
MAX_WIDTH = 120
SOURCES = sorted(path for path in (WEB / "src").rglob("*.ts*") if path != SCHEMA)
STYLES = sorted((WEB / "src").rglob("*.css"))
_LOOSE = re.compile(r"(?::|\bas|<)\s*any\b|@ts-ignore|@ts-nocheck|dangerouslySetInnerHTML")


def named(path: Path) -> str:
    return str(path.relative_to(WEB))


def test_files_are_short_and_lines_fit() -> None:
    wrong = []
    for path in (*SOURCES, *STYLES):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) >= MAX_LINES:
            wrong.append(f"{named(path)}: {len(lines)} lines")
        # A sentence that people read stays whole.
        text = path.is_relative_to(WEB / "src" / "i18n")
        wrong += [f"{named(path)}:{at}" for at, line in enumerate(lines, 1) if len(line) > MAX_WIDTH and not text]
    assert wrong == []


def test_every_source_says_first_what_it_is_for() -> None:
    """A test's name is that of what it tests, which says it."""
    sources = [path for path in SOURCES if not path.name.endswith(".test.ts")]
    assert [named(path) for path in sources if not path.read_text(encoding="utf-8").startswith("// ")] == []


def test_nothing_is_loose() -> None:
    assert [named(path) for path in SOURCES if _LOOSE.search(path.read_text(encoding="utf-8"))] == []


def test_colours_come_from_the_tokens() -> None:
    """Only what was measured for contrast may colour text and grounds."""
    homes = {"src/app/theme.ts", "src/app/tokens.css", "src/parts/DiffDrawing.css"}
    colour = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b(?=['\";])|\brgba?\(")
    found = [named(path) for path in (*SOURCES, *STYLES) if colour.search(path.read_text(encoding="utf-8"))]
    assert [name for name in found if name not in homes and not name.endswith(".test.ts")] == []


def test_text_can_be_read_on_every_ground() -> None:
    """As WCAG 2.2 AA asks, also in a row that is chosen or pointed at."""
    tokens = (WEB / "src" / "app" / "tokens.css").read_text(encoding="utf-8")
    faint = []
    for theme in re.findall(r"\{([^}]*--cm-page:[^}]*)\}", tokens):
        shades = dict(re.findall(r"--cm-([a-z]+): (#[0-9a-f]{6})", theme))
        faint += [
            (text, ground)
            for text in ("fg", "muted", "link", "ok", "warn", "err", "info")
            for ground in ("page", "panel", "raised", "sunken", "hover", "selected")
            if _contrast(shades[text], shades[ground]) < 4.5
        ]
    assert faint == []


def _contrast(one: str, other: str) -> float:
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(shade: str) -> float:
    parts = (int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_component_in_use_has_its_styles() -> None:
    """One that lacks them looks right nowhere, and no compiler says so."""
    imported = re.compile(r"import \{([^}]*)\} from '@mantine/core'")
    known = {
        path.name.split(".")[0] for path in (WEB / "node_modules" / "@mantine" / "core" / "styles").glob("[A-Z]*.css")
    }
    everywhere = (WEB / "src" / "app" / "styles.ts").read_text(encoding="utf-8")
    bare = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        used = {name.strip() for names in imported.findall(text) for name in names.split(",")}
        bare += [f"{named(path)}: {name}" for name in used & known if f"/{name}.layer.css'" not in everywhere + text]
    assert bare == []


def test_mantine_is_loaded_in_its_layer() -> None:
    """Outside of it, which rule wins depends on the order in which the bundler puts files."""
    styles = re.compile(r"'(@mantine/[^']+\.css)'")
    loaded = [name for path in SOURCES for name in styles.findall(path.read_text(encoding="utf-8"))]
    assert loaded
    assert [name for name in loaded if not name.endswith(".layer.css")] == []


def test_shared_classes_are_there_and_in_use() -> None:
    """A name in quotes is one of `shared.css`, and each of those is in use."""
    sheet = (WEB / "src" / "app" / "shared.css").read_text(encoding="utf-8")
    shared = set(re.findall(r"^ *\.([\w-]+)[ :\[]", sheet, re.MULTILINE))
    literal = re.compile(r'className=(?:"([^"]+)"|\{`([^`]*)`\})')
    used: set[str] = set()
    for path in SOURCES:
        for found in literal.findall(path.read_text(encoding="utf-8")):
            used |= set(re.sub(r"\$\{[^}]*\}", " ", " ".join(found)).split())
    assert [name for name in sorted(used - shared) if not name.startswith("cm-")] == []
    assert sorted(shared - used) == []


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in LOCK.read_text(encoding="utf-8")


# Where a source would stand, what it says, and the rule that refuses it.
PLANTED = (
    ("src/pages/bank/Planted.ts", "import { x } from '../lab/x';\nx();\n", "no-restricted-imports"),
    ("src/pages/bank/Planted.ts", "import { x } from '@/pages/lab/x';\nx();\n", "no-restricted-imports"),
    ("src/parts/Planted.ts", "import { x } from '@/pages/lab/x';\nx();\n", "no-restricted-imports"),
    (
        "src/pages/bank/usePlanted.ts",
        "import { useState } from 'react';\nexport function usePlanted(a: boolean) {\n  if (a) useState(0);\n}\n",
        "react-hooks/rules-of-hooks",
    ),
    ("src/pages/bank/Planted.ts", "import { x } from './x';\nimport { y } from '@/parts/y';\nx(y);\n", None),
)
# One program for all of them, because it takes seconds to load its rules.
_LINT = """
const { ESLint } = await import('eslint');
const { readFileSync } = await import('node:fs');
const eslint = new ESLint();
const found = [];
for (const [filePath, source] of JSON.parse(readFileSync(0, 'utf-8'))) {
  const [told] = await eslint.lintText(source, { filePath });
  found.push(told.messages.map((each) => each.ruleId));
}
console.log(JSON.stringify(found));
"""


def test_eslint_refuses() -> None:
    sources = json.dumps([[path, source] for path, source, _ in PLANTED])
    command = [str(NODE), "--input-type=module", "--eval", _LINT]
    done = subprocess.run(
        command, cwd=WEB, env=environment(), input=sources, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [[rule] if rule else [] for _, _, rule in PLANTED]
