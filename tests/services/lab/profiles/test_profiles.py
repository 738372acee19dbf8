"""Profiles from files: the shipped one, one of another laboratory, and every mistake told by file and key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.lab.service.profiles import SHIPPED, TOOLS, Cited, load, profile_of
from codexmem.lab.service.profiles.profile import BOUNDS, RunLimits
from codexmem.lab.service.profiles.schemas import problems, unfit

BAKERY = Path(__file__).parents[3] / "_support" / "profiles" / "bakery.toml"


def test_the_shipped_profile() -> None:
    profile = load("c2xc")
    assert list(profile.roles) == ["orchestrator", "mof_expert", "tio2_expert"]
    assert profile.roles["orchestrator"].delegates == ("mof_expert", "tio2_expert")
    assert list(profile.namespaces) == ["kb_principles", "kb_modulation"]
    recipe = profile.schema["properties"]["recipes"]["items"]["properties"]
    assert list(recipe) == ["M1", "M2", "atomic_ratio", "small_molecule_modifier", "rationale"]
    assert (profile.items, profile.cited, profile.entry) == ("recipes", Cited.EACH_ITEM, "orchestrator")


def test_a_profile_of_another_laboratory_with_its_schema_beside() -> None:
    profile = load(str(BAKERY))
    assert (profile.name, profile.language, list(profile.roles)) == (
        "bakery", "Chinese", ["head_baker", "dough_maker", "miller"],
    )  # fmt: skip
    assert profile.roles["dough_maker"].namespaces == ("kb_flours", "kb_ovens")  # all, if it names none
    assert profile.roles["miller"].tools == ("kb_query", "mem_list", "mem_get")
    assert profile.limits == RunLimits(depth=2, steps=30, task_steps=8, repairs=2, tokens=100_000)


@pytest.mark.parametrize("name", [*SHIPPED, str(BAKERY)])
def test_what_a_run_keeps_makes_the_same_profile(name: str) -> None:
    profile = load(name)
    assert profile_of(json.loads(json.dumps(profile.to_json()))) == profile


def test_the_number_of_items_is_exact() -> None:
    schema = load("c2xc").answer_schema(3)
    recipes = schema["properties"]["recipes"]
    assert (recipes["minItems"], recipes["maxItems"]) == (3, 3)
    assert "minItems" not in load("c2xc").schema["properties"]["recipes"]


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    "change, key, told",
    [
        (lambda p: p.update(format=2), "format", "1"),
        (lambda p: p.update(colour="red"), "colour", "another key"),
        (lambda p: p.update(name="No Good"), "name", "a-z"),
        (lambda p: p.pop("name"), "name", "a-z"),
        (lambda p: p.update(entry="boss"), "entry", "orchestrator, mof_expert"),
        (lambda p: p.update(roles={}), "roles", "at least one"),
        (lambda p: p.update(roles=[]), "roles", "a table"),
        (lambda p: p["roles"].update(user=p["roles"]["mof_expert"]), "roles.user", "another name"),
        (lambda p: p["roles"]["mof_expert"].pop("prompt"), "roles.mof_expert.prompt", "a text of 1 to 20,000"),
        (lambda p: p["roles"]["mof_expert"].update(prompt="x" * 20_001), "roles.mof_expert.prompt", "20,000"),
        (lambda p: p["roles"]["mof_expert"].update(promt="x"), "roles.mof_expert.promt", "knows description, prompt"),
        (lambda p: p["roles"]["mof_expert"].update(tools=["bash"]), "roles.mof_expert.tools", "kb_query, kb_get"),
        (lambda p: p["roles"]["mof_expert"].update(tools="kb_get"), "roles.mof_expert.tools", "a list"),
        (lambda p: p["roles"]["mof_expert"].update(delegates=["x"]), "roles.mof_expert.delegates", "orchestrator"),
        (lambda p: p["roles"]["mof_expert"].update(namespaces=["x"]), "roles.mof_expert.namespaces", "kb_principles"),
        (lambda p: p.update(namespaces={}), "roles.orchestrator.tools", "no namespace to ask"),
        (lambda p: p.pop("output"), "output", "a table [output]"),
        (lambda p: p["output"].pop("schema"), "output.schema", "a table"),
        (lambda p: p["output"]["schema"].update(type="array"), "output.schema", 'type = "object"'),
        (lambda p: p["output"]["schema"].update(required="recipes"), "output.schema", "Draft 2020-12"),
        (lambda p: p["output"]["schema"]["properties"].update(x={"$ref": "http://evil.example/s.json"}),
         "output.schema", "inside the schema only"),
        (lambda p: p["output"]["schema"]["properties"].update(overall_notes={"$ref": "#/$defs/none"}),
         "output.schema", "lead somewhere"),
        (lambda p: p["output"]["schema"].update({"$schema": "http://json-schema.org/draft-07/schema#"}),
         "output.schema", "draft-07"),
        (lambda p: p["output"].update(items="overall_notes"), "output.items", "a list among the properties"),
        (lambda p: p["output"].update(items="", cited="each_item"), "output.cited", "output.items is not set"),
        (lambda p: p["output"].update(cited="often"), "output.cited", "nowhere, anywhere, each_item"),
        (lambda p: p["limits"].update(depth=7), "limits.depth", "from 0 to 6"),
        (lambda p: p["limits"].update(steps="many"), "limits.steps", "a whole number"),
        (lambda p: p["limits"].update(steps=True), "limits.steps", "a whole number"),
        (lambda p: p["limits"].update(speed=1), "limits.speed", "another key"),
        (lambda p: p.pop("example"), "example", "a table"),
        (lambda p: p["example"].pop("request"), "example.request", "a text"),
        (lambda p: p["example"]["output"].pop("overall_notes"), "example.output", "overall_notes"),
        (lambda p: p["example"]["output"].update(recipes=[]), "example.output", "at least one entry"),
        (lambda p: p["example"]["output"]["recipes"][0].update(rationale="none"), "example.output", "[C1]"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_by_its_key(change: Change, key: str, told: str) -> None:
    given = json.loads(json.dumps(load("c2xc").to_json()))
    change(given)
    with pytest.raises(InvalidArgument) as caught:
        profile_of(given)
    assert caught.value.message.startswith(f"{key}: expected ")
    assert told in caught.value.message
    assert caught.value.details == {"key": key}


@pytest.mark.parametrize(
    "text, told",
    [
        ("format = ", "no TOML"), ("when = 2026-01-01", "no TOML"), ("x = 'é", "no TOML"),
        ("format = 2", "format: expected 1"),
        ("[output]\nschema_file = '../s.json'", "a .json file beside it"),
        ("[output]\nschema_file = 's.json'", "s.json: it cannot be read"),
        ("[output]\nschema_file = 'bad.json'", "bad.json: it is no JSON"),
        ("[output]\nschema_file = 's.json'\n[output.schema]\ntype='object'", "either it or output.schema"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "我的.toml"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidArgument) as caught:
        load(str(path))
    assert str(tmp_path) in caught.value.message
    assert told in caught.value.message
    assert caught.value.hint == "see docs/profiles.md"


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "large.toml").write_bytes(b"#" * 1_000_001)
    (tmp_path / "folder.toml").mkdir()
    for name, told in [
        ("binary.toml", "UTF-8"), ("large.toml", "larger than"), ("none.toml", "cannot be read"),
        ("folder.toml", "read"),
    ]:  # fmt: skip
        with pytest.raises(InvalidArgument, match=told):
            load(str(tmp_path / name))
    with pytest.raises(InvalidArgument, match="shipped: c2xc"):
        load("c3xc")


def test_every_limit_has_bounds_that_hold_its_default() -> None:
    for name, (least, most) in BOUNDS.items():
        assert least <= getattr(RunLimits(), name) <= most


def test_problems_are_short_and_few() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}}
    assert unfit(schema) is None
    assert problems(schema, {"a": ["x" * 10_000] * 3}) == ["a: has 3 entries, maxItems is 2"]
    found = problems(schema, {"a": list(range(10_000))})
    assert len(found) == 10
    assert max(map(len, found)) < 400
    deep: Any = {}
    for _ in range(2_000):
        deep = {"a": deep}
    looped = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    assert problems(looped, deep) == ["it cannot be checked: RecursionError"]


@pytest.mark.parametrize("name", ["profiles.md", "profiles.zh.md"])
def test_the_documentation_is_true(name: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "docs" / name).read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "documented.toml").write_text(example, encoding="utf-8")
    documented = load(str(tmp_path / "documented.toml"))
    assert (documented.cited, documented.items, documented.limits.depth) == (Cited.EACH_ITEM, "loaves", 2)
    for limit, (least, most) in BOUNDS.items():
        assert f"| `{limit}` | {getattr(RunLimits(), limit):,} | {least:,} – {most:,} |" in text
    for tool in TOOLS:
        assert f"| `{tool}` |" in text
    assert set(BOUNDS) == {each.name for each in fields(RunLimits)}
