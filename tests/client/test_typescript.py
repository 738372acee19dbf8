"""The TypeScript client, compiled as it is published, checked by its own tests against a real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from codexmem import __version__
from tests.web import building

SOURCES = building.ROOT / "clients" / "typescript"


def test_it_compiles_refuses_what_the_description_does_not_offer_and_works(url: str, key: str, tmp_path: Path) -> None:
    building.install()
    package = tmp_path / "typescript"
    shutil.copytree(SOURCES, package, ignore=shutil.ignore_patterns("node_modules", "dist", "schema.ts"))
    # Another test compares these types with the description that `npm run schema` reads.
    shutil.copyfile(building.SCHEMA, package / "src" / "schema.ts")
    building.run_tool("typescript", "bin/tsc", "--project", str(package))
    for page in ("client.md", "client.zh.md"):
        (block,) = re.findall(
            r"```ts\n(.*?)```", (building.ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL
        )
        guide = package / "test" / page.replace(".", "-").replace("-md", ".ts")
        guide.write_text(block.replace("'codexmem-client'", "'../dist/index.js'"), encoding="utf-8")
    strict = ("--noEmit", "--strict", "--skipLibCheck", "--module", "NodeNext", "--target", "ES2022")
    building.run_tool("typescript", "bin/tsc", *strict, *map(str, (package / "test").glob("*.ts")))
    layout = ("--config", str(building.WEB / ".prettierrc.json"), str(SOURCES / "src"), str(SOURCES / "test"))
    building.run_tool("prettier", "bin/prettier.cjs", "--check", *layout)
    tests = [str(building.NODE), "--test", "--test-reporter=tap", "test/client.test.js"]
    done = subprocess.run(
        tests, cwd=package, capture_output=True, text=True, check=False, timeout=120,
        env=building.environment() | {"CODEXMEM_URL": url, "CODEXMEM_API_KEY": key},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 5" in done.stdout
    assert sorted(path.name for path in (package / "dist").iterdir()) == [
        f"{name}.{kind}" for name in ("errors", "index", "schema") for kind in ("d.ts", "js")
    ]


def test_it_has_the_version_of_the_server_that_it_was_made_from() -> None:
    told = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))
    assert told["version"] == __version__
    web = json.loads((building.WEB / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert told["devDependencies"] == {name: web[name] for name in told["devDependencies"]}
