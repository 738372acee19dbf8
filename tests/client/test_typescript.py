"""The TypeScript client, compiled as it is published, checked by its own tests against a real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from codexmem import __version__
from codexmem.client import Client
from tests._support.scripted_model import Call, Say, ScriptedModel
from tests.client.frameworks import MODULES
from tests.client.frameworks import install as install_frameworks
from tests.web import building

SOURCES = building.ROOT / "clients" / "typescript"
RULE = "Deploys of the shop go to staging first, with DEPLOY_WAIT=90."
REQUEST = "Deploy the shop, please."
ANSWER = "The shop was deployed to staging with DEPLOY_WAIT=90 and answers."


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is published, and the AI SDK beside it."""
    install_frameworks()
    package = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(SOURCES, package, ignore=shutil.ignore_patterns("node_modules", "dist", "schema.ts"))
    # Made as `npm run schema` makes them.
    shutil.copyfile(building.SCHEMA, package / "src" / "schema.ts")
    building.run_tool("typescript", "bin/tsc", "--project", str(package))
    (package / "node_modules").symlink_to(MODULES)
    return package


def test_it_compiles_and_refuses_what_the_description_does_not_offer(package: Path) -> None:
    for page in ("client.md", "client.zh.md"):
        blocks = re.findall(r"```ts\n(.*?)```", (building.ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
        assert len(blocks) == 2
        for number, block in enumerate(blocks):
            guide = package / "test" / page.replace(".", "-").replace("-md", f"-{number}.ts")
            here = block.replace("'codexmem-client'", "'../dist/index.js'")
            guide.write_text(here.replace("'codexmem-client/ai-sdk'", "'../dist/ai-sdk.js'"), encoding="utf-8")
    strict = ("--noEmit", "--strict", "--skipLibCheck", "--module", "NodeNext", "--target", "ES2022")
    building.run_tool("typescript", "bin/tsc", *strict, *map(str, (package / "test").glob("*.ts")))
    layout = ("--config", str(building.WEB / ".prettierrc.json"), str(SOURCES / "src"), str(SOURCES / "test"))
    building.run_tool("prettier", "bin/prettier.cjs", "--check", *layout)
    assert sorted(path.name for path in (package / "dist").iterdir()) == [
        f"{name}.{kind}" for name in ("ai-sdk", "errors", "index", "schema") for kind in ("d.ts", "js")
    ]


def test_it_works(package: Path, url: str, key: str) -> None:
    run(package, "client", 5, {"CODEXMEM_URL": url, "CODEXMEM_API_KEY": key})


def test_an_agent_of_the_ai_sdk_is_told_what_is_remembered_and_what_it_does_is_kept(
    package: Path, url: str, key: str, client: Client
) -> None:
    client.save(RULE, project="ai-sdk", title="Deploys")
    known = {"CODEXMEM_URL": url, "CODEXMEM_API_KEY": key}
    with ScriptedModel([Call("deploy", {"environment": "staging"}), Say(ANSWER)]) as model:
        run(package, "ai-sdk", 1, {**known, "MODEL_URL": model.url, "STEP": "generate"})
        first, second = (asked.texts("user") for asked in model.asked)
        assert first == second  # what a provider keeps of the beginning of a conversation stays of use
        assert RULE in first[0]
        assert first[0].endswith(REQUEST)
        assert first[0].count(RULE) == 1
        model.play(Say("Eight."))
        run(package, "ai-sdk", 1, {**known, "MODEL_URL": model.url, "STEP": "stream"})
        (streamed,) = model.asked
        assert [RULE in text for text in streamed.texts("user")] == [False, True]  # a new process begins anew
        model.play(Say("Without."))
        run(package, "ai-sdk", 1, {**known, "MODEL_URL": model.url, "STEP": "away"})
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as api:
        (session,) = api.get("/api/sessions", params={"project": "ai-sdk"}).json()["items"]
        page = api.get(f"/api/sessions/{session['number']}/turns").json()["items"]
    assert session["agent"] == "ai-sdk"
    assert [turn["prompt"]["text"] for turn in page] == [REQUEST, "How many servers does the shop have?"]
    used, ended = page[0]["events"]
    assert (used["tool"], used["input"]) == ("deploy", '{"environment": "staging"}')
    assert used["response"] == "deployed to staging in 40 s"
    assert [ended["message"], page[1]["events"][0]["message"]] == [ANSWER, "Eight."]
    assert [given["start"] for turn in page for given in turn["injected"]] == [True, False] * 2


def run(package: Path, name: str, count: int, environ: dict[str, str]) -> None:
    """The tests of one file, as many as there must be."""
    tests = [str(building.NODE), "--test", "--test-reporter=tap", f"test/{name}.test.js"]
    done = subprocess.run(
        tests, cwd=package, capture_output=True, text=True, check=False, timeout=120,
        env=building.environment() | environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"# pass {count}\n" in done.stdout


def test_it_has_the_version_of_the_server_that_it_was_made_from() -> None:
    told = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))
    assert told["version"] == __version__
    web = json.loads((building.WEB / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert told["devDependencies"] == {name: web[name] for name in told["devDependencies"]}
