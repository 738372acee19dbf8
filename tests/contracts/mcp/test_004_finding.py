"""Contract 004 §2.5, §2.6 and §2.8 to §2.11: many memories, found, counted, carried away and taken in."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from tests._support.mcp_calls import Agent
from tests._support.notes_door import NotesDoor
from tests._support.server import Server

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/src/shop/ledger_{name}.py", line 42, in settle_{name}
    raise Gateway{name}Error("could not settle 17 after 30 s")
shop.errors.Gateway{name}Error: could not settle 17 after 30 s
"""


@pytest.fixture
def door(api: Server, project: str) -> NotesDoor:
    return NotesDoor(Agent(api, "http-new", "/mcp/notes"), project)


@pytest.mark.clause("004 §2.5", "by words of the URI path, of the content and of the disclosure, Chinese too")
def test_2_5_everything_is_searched(door: NotesDoor) -> None:
    door.create("services/ledger", "nightly settlement")
    door.create("x", "the ports of the gateway", disclosure="before migrations")
    door.create("y", "支付网关在高负载下最多需要二十秒")

    def found(query: str) -> list[str]:
        return door.paths(door.call("search_memory", query=query, domain=door.domain))

    assert found("ledger")[0] == "services/ledger"
    assert found("settlements")[0] == "services/ledger"
    assert found("migration")[0] == "x"
    assert found("支付网关")[0] == "y"
    assert found(door.uri("x"))[0] == "x"
    assert len(found("bread")) < 3  # by meaning something may be near, but not everything
    text = door.text("search_memory", query="高负载", domain=door.domain)
    assert f"- {door.uri('y')} [5] 支付网关在高负载下最多需要二十秒" in text


@pytest.mark.clause(
    "004 §2.5", "domain, limit, priority_min and priority_max narrow; ten results unless said otherwise"
)
def test_2_5_every_parameter(door: NotesDoor) -> None:
    for number in range(11):
        door.create(f"n{number}", f"kiwi {number}", priority=number)

    def priorities(**given: Any) -> list[int]:
        told = door.call("search_memory", query="kiwi", domain=door.domain, **given)
        return sorted(row["priority"] for row in told["memories"])

    assert len(priorities()) == 10
    assert priorities(limit=100) == list(range(11))
    assert priorities(priority_min=9) == [9, 10]
    assert priorities(priority_max=2) == [0, 1, 2]
    assert priorities(priority_min=3, priority_max=4, limit=1) in ([3], [4])
    assert door.call("search_memory", query="kiwi", domain=f"{door.domain}.other")["count"] == 0
    assert door.call("search_memory", query="kiwi", domain=f"{door.domain}://", limit=2)["more"] is True
    assert "is above priority_max" in door.refusal("search_memory", query="kiwi", priority_min=3, priority_max=2)
    assert "is no domain" in door.refusal("search_memory", query="kiwi", domain="a b")
    assert "query: " in door.refusal("search_memory")
    assert "limit: " in door.refusal("search_memory", query="kiwi", limit=101)


@pytest.mark.clause("004 §2.6", "core memories are always there; what bears on it comes with reasons, nothing else")
def test_2_6_intent(door: NotesDoor) -> None:
    name = door.domain.replace("-", "")
    door.create("me", "核心", priority=0)
    door.create(f"{name}_gateway", "takes 20 seconds", priority=4)
    door.create("unrelated", "bread and butter")
    told = door.call("preload_memory", context_type="intent", context_data=f"why is the {name} gateway so slow?")
    assert door.paths(told, "core") == ["me"]
    assert door.paths(told, "related") == [f"{name}_gateway"]
    (chosen,) = [row for row in told["related"] if row["uri"].startswith(door.domain)]
    assert (chosen["reasons"], chosen["content"]) == ([f"is named {name} gateway"], "takes 20 seconds")
    text = door.text("preload_memory", context_type="intent", context_data=f"{name}_gateway")
    assert f"(chosen because it is named {name} gateway)" in text


@pytest.mark.clause("004 §2.6", "a file by its path, its name and the folders above it; a directory by structure")
def test_2_6_file_and_directory(door: NotesDoor) -> None:
    name = f"orders_{door.domain.replace('-', '_')}"
    door.create("whole", f"src/{name}/cart.py rounds down")
    door.create("folder", f"the structure of {name}: 结算")
    door.create("unrelated", "bread and butter, src and app.py")
    path = f"/home/me/shop/src/{name}/cart.py"
    told = door.call("preload_memory", context_type="file", context_data=path)
    assert door.paths(told, "related") == ["whole", "folder"]
    first, second = (row["reasons"] for row in told["related"] if row["uri"].startswith(door.domain))
    assert first == [f"names the file src/{name}/cart.py"]
    assert second == [f"names the folder {name} above it"]
    told = door.call("preload_memory", context_type="directory", context_data=f"./src/{name}/")
    assert door.paths(told, "related")[0] == "whole"
    reasons = {row["uri"]: row["reasons"] for row in told["related"]}
    assert reasons[door.uri("folder")] == [f"names the folder {name} and tells of structure"]


@pytest.mark.clause("004 §2.6", "an error by its class, its message and where it happened")
def test_2_6_error(door: NotesDoor) -> None:
    name = "".join(each for each in door.domain.title() if each.isalnum())
    door.create("class", f"Gateway{name}Error: retry once")
    door.create("frame", f"ledger_{name}.py settles by night")
    door.create("message", "could not settle after a while means the clock is wrong")
    door.create("unrelated", "bread and butter")
    told = door.call("preload_memory", context_type="error", context_data=TRACEBACK.format(name=name))
    assert door.paths(told, "related")[:2] == ["class", "message"]
    assert "unrelated" not in door.paths(told, "related")
    reasons = {row["uri"]: row["reasons"][0] for row in told["related"]}
    assert reasons[door.uri("class")] == f"names the error Gateway{name}Error"
    assert reasons[door.uri("frame")] == f"names ledger_{name}.py, where it happened"
    assert reasons[door.uri("message")].startswith("says ")
    assert "context_type: " in door.refusal("preload_memory", context_type="mood", context_data="x")
    assert "context_data is required" in door.refusal("preload_memory", context_type="error", context_data=" ")
    assert "context_data: " in door.refusal("preload_memory", context_type="error")


@pytest.mark.clause("004 §2.6", "what a search finds first by words that few other notes have, preloading finds too")
@pytest.mark.clause("004 §2.6", "if nothing bears on the context, nothing but the core is told")
def test_2_6_preload_finds_what_search_finds_and_nothing_else(door: NotesDoor) -> None:
    _notes_of_a_project(door)

    def related(context_type: str, context_data: str) -> list[str]:
        told = door.call("preload_memory", context_type=context_type, context_data=context_data)
        assert all(row["reasons"] for row in told["related"])
        return door.paths(told, "related")

    blocked = "Access to fetch at 'http://localhost:8000/a' has been blocked by CORS policy: No header is present"
    for context_type, context_data, path in (
        ("error", blocked, "cors"),
        ("error", "ldap3.core.exceptions.LDAPSocketOpenError: socket error while opening: timed out", "ldap"),
        ("error", "alembic.util.exc.CommandError: Can't locate revision identified by 'abc123'", "schema"),
        ("intent", "怎么发布新版本", "发布流程"),
        ("intent", "import a spreadsheet with 80k rows", "imports"),
        ("directory", "src", "structure/src"),
        ("directory", "./src/", "structure/src"),
        ("directory", "lib", "layout"),
    ):
        assert (context_data, related(context_type, context_data)) == (context_data, [path])
    for context_type, context_data in (
        ("intent", "write a haiku about autumn"),
        ("intent", "乌龟吃什么"),
        ("intent", "tell me a joke"),
        ("error", "ModuleNotFoundError: No module named 'flask_babel'"),
        ("error", "Segmentation fault (core dumped)"),
        ("file", "README.md"),
        ("directory", "app"),
    ):
        assert (context_data, related(context_type, context_data)) == (context_data, [])


def _notes_of_a_project(door: NotesDoor) -> None:
    door.create("cors", "The API only allows origins listed in ALLOWED_ORIGINS; add the dev port there.")
    door.create("ldap", "Directory logins: the server sits behind the VPN, raise connect_timeout to 20.")
    door.create("schema", "改表结构要先写 alembic 脚本，并在预发环境跑一遍。")
    door.create("发布流程", "先打标签，再运行 make release，最后通知运维。")
    door.create("imports", "Excel imports above 50k rows must go through the background worker.")
    door.create("structure/src", "Holds net.ts, db.ts and the entry of the command line.")
    door.create("layout", "lib/ has the parsers, bin/ the programs.")
    door.create("style", "Line length 120, no abbreviations, a docstring on every public name.")
    door.create("me", "Prefers short answers, works from Hangzhou.")


@pytest.mark.clause("004 §2.8", "domain, status, limit, priority_min and priority_max; newest first, twenty")
def test_2_8_list(door: NotesDoor) -> None:
    for number in range(11):
        door.create(f"n{number}", priority=number)
    for status in ("deprecated", "archived"):
        door.create(status)
        assert door.call("update_memory", uri=door.uri(status), status=status)["status"] == status

    def paths(**given: Any) -> list[str]:
        return door.paths(door.call("list_memories", domain=door.domain, **given))

    assert paths() == ["archived", "deprecated", *(f"n{number}" for number in range(10, -1, -1))]
    assert paths(status="active", limit=2) == ["n10", "n9"]
    assert (paths(status="deprecated"), paths(status="archived")) == (["deprecated"], ["archived"])
    assert paths(priority_min=3, priority_max=4) == ["n4", "n3"]
    assert door.call("list_memories", domain=door.domain, limit=1)["more"] is True
    assert "status: " in door.refusal("list_memories", status="lost")
    for number in range(10):
        door.create(f"m{number}")
    assert door.call("list_memories")["count"] == 20
    assert "[archived]" in door.text("list_memories", domain=door.domain, status="archived")


@pytest.mark.clause("004 §2.9", "total, by_status, by_domain and access")
def test_2_9_stats(door: NotesDoor) -> None:
    for path in ("a", "b", "c"):
        door.create(path)
    door.call("delete_memory", uri=door.uri("c"))
    for _ in range(3):
        door.call("read_memory", uri=door.uri("a"))
    told = door.call("get_memory_stats")
    assert told["by_domain"][door.domain] == 2
    assert told["total"] == sum(count for status, count in told["by_status"].items() if status != "deleted")
    assert told["by_status"]["deleted"] >= 1
    assert told["access"]["total"] >= 3
    assert told["access"]["memories_read"] >= 1
    assert told["access"]["most_read"]
    assert f"- {door.domain}://: 2" in door.text("get_memory_stats")


@pytest.mark.clause("004 §2.9", "every figure knows what was written just before")
def test_2_9_stats_are_never_stale(door: NotesDoor) -> None:
    def own() -> int:
        count: int = door.call("get_memory_stats")["by_domain"].get(door.domain, 0)
        return count

    for number in range(3):
        door.create(f"n{number}")
        assert own() == number + 1
    door.call("delete_memory", uri=door.uri("n0"))
    assert own() == 2
    door.call("delete_memory", uri=door.uri("n1"), force=True)
    assert own() == 1
    before = door.call("get_memory_stats")["access"]["total"]
    door.call("read_memory", uri=door.uri("n2"))
    time.sleep(0.5)  # longer than figures of a small store are kept
    assert door.call("get_memory_stats")["access"]["total"] > before


@pytest.mark.clause("004 §2.10", "JSON of one domain; versions, aliases and relations only if asked for")
def test_2_10_export(door: NotesDoor) -> None:
    door.create("a", f"甲 see {door.uri('b')}", priority=1, disclosure="x")
    door.create("b", "乙")
    door.call("update_memory", uri=door.uri("b"), content="丙")
    door.call("add_alias", target_uri=door.uri("b"), alias_uri=door.uri("alias"))
    plain = door.call("export_memories", domain=door.domain)
    assert [row["uri"] for row in plain["memories"]] == [door.uri("a"), door.uri("b")]
    assert not {"versions", "relations", "aliases"} & set(plain["memories"][0])
    whole = door.call("export_memories", domain=door.domain, include_versions=True, include_relations=True)
    first, second = whole["memories"]
    assert first["relations"] == [{"relation": "mentions", "uri": door.uri("b")}]
    assert ([each["content"] for each in second["versions"]], second["aliases"]) == (
        ["乙", "丙", "丙"],
        [door.uri("alias")],
    )
    assert "甲" in door.text("export_memories", domain=door.domain)
    assert door.call("export_memories", domain=f"{door.domain}.none")["memories"] == []


@pytest.mark.clause("004 §2.11", "an export comes back whole: versions, aliases, links, times and uses")
def test_2_11_round_trip(door: NotesDoor) -> None:
    door.create("a", f"甲 see {door.uri('alias')}", priority=1, disclosure="x")
    door.create("b", "乙")
    door.call("update_memory", uri=door.uri("b"), content="丙")
    door.call("add_alias", target_uri=door.uri("b"), alias_uri=door.uri("alias"))
    door.call("read_memory", uri=door.uri("b"))
    options = {"domain": door.domain, "include_versions": True, "include_relations": True}
    before = door.call("export_memories", **options)
    for path in ("a", "b"):
        door.call("delete_memory", uri=door.uri(path), force=True)
    told = door.call("import_memories", data=before, strategy="skip")
    assert told["created"] == [door.uri("a"), door.uri("b")]
    after = door.call("export_memories", **options)
    for each in (*before["memories"], *after["memories"]):
        del each["id"]  # minted anew
        each.pop("origin")
        for version in each["versions"]:
            del version["actor"]
    assert after["memories"] == before["memories"]


@pytest.mark.clause(
    "004 §2.11", "skip is the default and changes nothing; overwrite replaces; merge adds what is missing"
)
def test_2_11_strategies(door: NotesDoor) -> None:
    data = {"memories": [{"uri": door.uri("a"), "content": "one\n\ntwo", "priority": 7, "origin": "agent"}]}
    door.create("a", "zero\n\none", priority=4)
    skipped = door.call("import_memories", data=data)
    assert (skipped["strategy"], skipped["skipped"], skipped["delta"]) == ("skip", [door.uri("a")], None)
    merged = door.call("import_memories", data=data, strategy="merge")
    assert merged["changed"] == [door.uri("a")]
    read = door.call("read_memory", uri=door.uri("a"))
    assert (read["content"], read["priority"], read["version"]) == ("zero\n\none\n\ntwo", 4, 2)
    assert door.call("import_memories", data=data, strategy="merge")["skipped"] == [door.uri("a")]
    door.call("import_memories", data=data, strategy="overwrite")
    read = door.call("read_memory", uri=door.uri("a"))
    assert (read["content"], read["priority"], read["version"]) == ("one\n\ntwo", 7, 3)


@pytest.mark.clause("004 §2.11", "every strategy is one delta, which is named and can be taken back")
@pytest.mark.parametrize("strategy", ["skip", "overwrite", "merge"])
def test_2_11_undo(door: NotesDoor, api: Server, strategy: str) -> None:
    door.create("old", "here")
    rows = [{"uri": door.uri(path), "content": "there"} for path in ("old", "new", "newer")]
    told = door.call("import_memories", data={"memories": rows}, strategy=strategy)
    assert told["undo"] == f"codexmem undo {told['delta']}"
    assert api.post("/api/undo", {"delta": told["delta"]}).status == 200
    assert door.call("read_memory", uri=door.uri("old"))["content"] == "here"
    assert "was deleted" in door.refusal("read_memory", uri=door.uri("new"))
    text = door.text("import_memories", data={"memories": [{"uri": door.uri("x"), "content": "x"}]})
    assert "To take it back: `codexmem undo delta_" in text


@pytest.mark.clause("004 §2.11", "what nobody vouched for gets no core priority and adds nothing to core memories")
def test_2_11_core_is_guarded(door: NotesDoor) -> None:
    door.create("core", "mine", priority=0)
    rows: list[dict[str, Any]] = [
        {"uri": door.uri("claimed"), "content": "x", "priority": 0, "origin": "import"},
        {"uri": door.uri("silent"), "content": "x", "priority": 1},
        {"uri": door.uri("vouched"), "content": "x", "priority": 1, "origin": "agent"},
        {"uri": door.uri("core"), "content": "and this", "origin": "tool"},
    ]
    told = door.call("import_memories", data={"memories": rows}, strategy="merge")
    assert told["priority_not_taken_over"] == [door.uri("claimed"), door.uri("silent")]
    assert told["left_core"] == [door.uri("core")]
    assert door.paths(door.call("read_memory", uri="system://boot")) == ["core", "vouched"]
    assert door.call("read_memory", uri=door.uri("vouched"))["origin"] == "import"


@pytest.mark.clause("004 §2.11", "a document that is wrong anywhere changes nothing, and it is said where")
@pytest.mark.parametrize("wrong, said", [
    ({"uri": "no uri", "content": "x"}, "memories[1]: 'no uri' is not a memory URI"),
    ({"uri": "a://b"}, "memories[1]: content must be non-empty text"),
    ({"uri": "a://b", "content": "x", "priority": 11}, "memories[1]: priority must be a whole number from 0 to 10"),
    ({"uri": "a://b", "content": "x", "status": "lost"}, "memories[1]: status 'lost' is none of"),
    ({"uri": "a://b", "content": "x", "aliases": "c://d"}, "memories[1]: aliases must be a list"),
    ({"uri": "a://b", "content": "x", "versions": [1]}, "memories[1]: one of its versions is no object"),
    ({"uri": "a://b", "content": "x", "created_at": "soon"}, "memories[1]: created_at must be a time"),
    ([], "memories[1]: is no object"),
])  # fmt: skip
def test_2_11_wrong_documents(door: NotesDoor, wrong: Any, said: str) -> None:
    good = {"uri": door.uri("good"), "content": "x"}
    assert said in door.refusal("import_memories", data={"memories": [good, copy.deepcopy(wrong)]})
    assert "there is no memory at" in door.refusal("read_memory", uri=door.uri("good"))
    assert "no list of memories" in door.refusal("import_memories", data={})
    assert "data: " in door.refusal("import_memories", data="x")
    assert "strategy: " in door.refusal("import_memories", data={"memories": []}, strategy="replace")
