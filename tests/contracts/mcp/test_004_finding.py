"""Contract 004 §2.5, §2.6 and §2.8 to §2.11: many memories, found, counted, carried away and taken in."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests._support.mcp_calls import Agent
from tests._support.notes_endpoint import NotesEndpoint
from tests._support.server import Server
from tests._support.waiting import eventually

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/src/shop/ledger_{name}.py", line 42, in settle_{name}
    raise Gateway{name}Error("could not settle 17 after 30 s")
shop.errors.Gateway{name}Error: could not settle 17 after 30 s
"""


@pytest.fixture
def endpoint(api: Server, project: str) -> NotesEndpoint:
    return NotesEndpoint(Agent(api, "http-new", "/mcp/notes"), project)


@pytest.mark.clause("004 §2.5", "by words of the URI path, of the content and of the disclosure, Chinese too")
def test_2_5_everything_is_searched(endpoint: NotesEndpoint) -> None:
    endpoint.create("services/ledger", "nightly settlement")
    endpoint.create("x", "the ports of the gateway", disclosure="before migrations")
    endpoint.create("y", "支付网关在高负载下最多需要二十秒")

    def found(query: str) -> list[str]:
        return endpoint.paths(endpoint.call("search_memory", query=query, domain=endpoint.domain))

    assert found("ledger")[0] == "services/ledger"
    assert found("settlements")[0] == "services/ledger"
    assert found("migration")[0] == "x"
    assert found("支付网关")[0] == "y"
    assert found(endpoint.uri("x"))[0] == "x"
    assert len(found("bread")) < 3  # by meaning something may be near, but not everything
    text = endpoint.text("search_memory", query="高负载", domain=endpoint.domain)
    assert f"- {endpoint.uri('y')} [5] [agent] 支付网关在高负载下最多需要二十秒" in text


@pytest.mark.clause(
    "004 §2.5", "domain, limit, priority_min and priority_max narrow; ten results unless said otherwise"
)
def test_2_5_every_parameter(endpoint: NotesEndpoint) -> None:
    for number in range(11):
        endpoint.create(f"n{number}", f"kiwi {number}", priority=number)

    def priorities(**given: Any) -> list[int]:
        told = endpoint.call("search_memory", query="kiwi", domain=endpoint.domain, **given)
        return sorted(row["priority"] for row in told["memories"])

    assert len(priorities()) == 10
    assert priorities(limit=100) == list(range(11))
    assert priorities(priority_min=9) == [9, 10]
    assert priorities(priority_max=2) == [0, 1, 2]
    assert priorities(priority_min=3, priority_max=4, limit=1) in ([3], [4])
    assert endpoint.call("search_memory", query="kiwi", domain=f"{endpoint.domain}.other")["count"] == 0
    assert endpoint.call("search_memory", query="kiwi", domain=f"{endpoint.domain}://", limit=2)["more"] is True
    assert "is above priority_max" in endpoint.refusal("search_memory", query="kiwi", priority_min=3, priority_max=2)
    assert "is no domain" in endpoint.refusal("search_memory", query="kiwi", domain="a b")
    assert "query: " in endpoint.refusal("search_memory")
    assert "limit: " in endpoint.refusal("search_memory", query="kiwi", limit=101)


@pytest.mark.clause("004 §2.6", "core memories are always there; what bears on it comes with reasons, nothing else")
def test_2_6_intent(endpoint: NotesEndpoint) -> None:
    name = endpoint.domain.replace("-", "")
    endpoint.create_by_person("me", "核心", priority=0)
    endpoint.create(f"{name}_gateway", "takes 20 seconds", priority=4)
    endpoint.create("unrelated", "bread and butter")
    told = endpoint.call("preload_memory", context_type="intent", context_data=f"why is the {name} gateway so slow?")
    assert endpoint.paths(told, "core") == ["me"]
    assert endpoint.paths(told, "related") == [f"{name}_gateway"]
    (chosen,) = [row for row in told["related"] if row["uri"].startswith(endpoint.domain)]
    assert (chosen["reasons"], chosen["content"]) == ([f"is named {name} gateway"], "takes 20 seconds")
    text = endpoint.text("preload_memory", context_type="intent", context_data=f"{name}_gateway")
    assert f"(chosen because it is named {name} gateway)" in text


@pytest.mark.clause("004 §2.6", "a core note that an agent wrote is among the core at once, and related where it bears")
def test_2_6_core_notes_of_agents(endpoint: NotesEndpoint) -> None:
    endpoint.create("config", "the settings are in config.toml", priority=1)
    endpoint.create("timeouts", "config.toml holds them", priority=4)
    endpoint.create("unrelated", "bread and butter", priority=2)
    told = endpoint.call("preload_memory", context_type="file", context_data="config.toml")
    assert endpoint.paths(told, "core") == ["config", "unrelated"]
    assert sorted(endpoint.paths(told, "related")) == ["config", "timeouts"]
    text = endpoint.text("preload_memory", context_type="file", context_data="config.toml")
    assert f"## {endpoint.uri('config')} [1] [proposed] [agent]\nthe settings are in config.toml" in text
    assert f"## {endpoint.uri('config')}: see above (chosen because it is named config; it" in text


@pytest.mark.clause("004 §2.6", "a file by its path, its name and the folders above it; a directory by structure")
def test_2_6_file_and_directory(endpoint: NotesEndpoint) -> None:
    name = f"orders_{endpoint.domain.replace('-', '_')}"
    endpoint.create("whole", f"src/{name}/cart.py rounds down")
    endpoint.create("folder", f"the structure of {name}: 结算")
    endpoint.create("unrelated", "bread and butter, src and app.py")
    path = f"/home/me/shop/src/{name}/cart.py"
    told = endpoint.call("preload_memory", context_type="file", context_data=path)
    assert endpoint.paths(told, "related") == ["whole", "folder"]
    first, second = (row["reasons"] for row in told["related"] if row["uri"].startswith(endpoint.domain))
    assert first == [f"names the file src/{name}/cart.py"]
    assert second == [f"names the folder {name} above it"]
    told = endpoint.call("preload_memory", context_type="directory", context_data=f"./src/{name}/")
    assert endpoint.paths(told, "related")[0] == "whole"
    reasons = {row["uri"]: row["reasons"] for row in told["related"]}
    assert reasons[endpoint.uri("folder")] == [f"names the folder {name} and tells of structure"]


@pytest.mark.clause("004 §2.6", "an error by its class, its message and where it happened")
def test_2_6_error(endpoint: NotesEndpoint) -> None:
    name = "".join(each for each in endpoint.domain.title() if each.isalnum())
    endpoint.create("class", f"Gateway{name}Error: retry once")
    endpoint.create("frame", f"ledger_{name}.py settles by night")
    endpoint.create("message", "could not settle after a while means the clock is wrong")
    endpoint.create("unrelated", "bread and butter")
    told = endpoint.call("preload_memory", context_type="error", context_data=TRACEBACK.format(name=name))
    assert endpoint.paths(told, "related")[:2] == ["class", "message"]
    assert "unrelated" not in endpoint.paths(told, "related")
    reasons = {row["uri"]: row["reasons"][0] for row in told["related"]}
    assert reasons[endpoint.uri("class")] == f"names the error Gateway{name}Error"
    assert reasons[endpoint.uri("frame")] == f"names ledger_{name}.py, where it happened"
    assert reasons[endpoint.uri("message")].startswith("says ")
    assert "context_type: " in endpoint.refusal("preload_memory", context_type="mood", context_data="x")
    assert "context_data is required" in endpoint.refusal("preload_memory", context_type="error", context_data=" ")
    assert "context_data: " in endpoint.refusal("preload_memory", context_type="error")


@pytest.mark.clause("004 §2.6", "what a search finds first by words that few other notes have, preloading finds too")
@pytest.mark.clause("004 §2.6", "if nothing bears on the context, nothing but the core is told")
def test_2_6_preload_finds_what_search_finds_and_nothing_else(endpoint: NotesEndpoint) -> None:
    _notes_of_a_project(endpoint)

    def related(context_type: str, context_data: str) -> list[str]:
        told = endpoint.call("preload_memory", context_type=context_type, context_data=context_data)
        assert all(row["reasons"] for row in told["related"])
        return endpoint.paths(told, "related")

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


def _notes_of_a_project(endpoint: NotesEndpoint) -> None:
    endpoint.create("cors", "The API only allows origins listed in ALLOWED_ORIGINS; add the dev port there.")
    endpoint.create("ldap", "Directory logins: the server sits behind the VPN, raise connect_timeout to 20.")
    endpoint.create("schema", "改表结构要先写 alembic 脚本，并在预发环境跑一遍。")
    endpoint.create("发布流程", "先打标签，再运行 make release，最后通知运维。")
    endpoint.create("imports", "Excel imports above 50k rows must go through the background worker.")
    endpoint.create("structure/src", "Holds net.ts, db.ts and the entry of the command line.")
    endpoint.create("layout", "lib/ has the parsers, bin/ the programs.")
    endpoint.create("style", "Line length 120, no abbreviations, a docstring on every public name.")
    endpoint.create("me", "Prefers short answers, works from Hangzhou.")


@pytest.mark.clause("004 §2.8", "domain, status, limit, priority_min and priority_max; newest first, twenty")
def test_2_8_list(endpoint: NotesEndpoint) -> None:
    for number in range(11):
        endpoint.create(f"n{number}", priority=number)
    for status in ("deprecated", "archived"):
        endpoint.create(status)
        assert endpoint.call("update_memory", uri=endpoint.uri(status), status=status)["status"] == status

    def paths(**given: Any) -> list[str]:
        return endpoint.paths(endpoint.call("list_memories", domain=endpoint.domain, **given))

    assert paths() == ["archived", "deprecated", *(f"n{number}" for number in range(10, -1, -1))]
    assert paths(status="active", limit=2) == ["n10", "n9"]
    assert (paths(status="deprecated"), paths(status="archived")) == (["deprecated"], ["archived"])
    assert paths(priority_min=3, priority_max=4) == ["n4", "n3"]
    assert endpoint.call("list_memories", domain=endpoint.domain, limit=1)["more"] is True
    assert "status: " in endpoint.refusal("list_memories", status="lost")
    for number in range(10):
        endpoint.create(f"m{number}")
    assert endpoint.call("list_memories")["count"] == 20
    assert "[archived]" in endpoint.text("list_memories", domain=endpoint.domain, status="archived")


@pytest.mark.clause("004 §2.9", "total, by_status, by_domain and access")
def test_2_9_stats(endpoint: NotesEndpoint) -> None:
    for path in ("a", "b", "c"):
        endpoint.create(path)
    endpoint.call("delete_memory", uri=endpoint.uri("c"))
    for _ in range(3):
        endpoint.call("read_memory", uri=endpoint.uri("a"))
    told = endpoint.call("get_memory_stats")
    assert told["by_domain"][endpoint.domain] == 2
    assert told["total"] == sum(count for status, count in told["by_status"].items() if status != "deleted")
    assert told["by_status"]["deleted"] >= 1
    assert told["access"]["total"] >= 3
    assert told["access"]["memories_read"] >= 1
    assert told["access"]["most_read"]
    assert f"- {endpoint.domain}://: 2" in endpoint.text("get_memory_stats")


@pytest.mark.clause("004 §2.9", "every figure knows what was written just before")
def test_2_9_stats_are_never_stale(endpoint: NotesEndpoint) -> None:
    def own() -> int:
        count: int = endpoint.call("get_memory_stats")["by_domain"].get(endpoint.domain, 0)
        return count

    for number in range(3):
        endpoint.create(f"n{number}")
        assert own() == number + 1
    endpoint.call("delete_memory", uri=endpoint.uri("n0"))
    assert own() == 2
    endpoint.call("delete_memory", uri=endpoint.uri("n1"), force=True)
    assert own() == 1
    before = endpoint.call("get_memory_stats")["access"]["total"]
    endpoint.call("read_memory", uri=endpoint.uri("n2"))
    # Figures of a small store are kept for a moment.
    eventually(lambda: endpoint.call("get_memory_stats")["access"]["total"] > before)


@pytest.mark.clause("004 §2.10", "JSON of one domain; versions, aliases and relations only if asked for")
def test_2_10_export(endpoint: NotesEndpoint) -> None:
    endpoint.create("a", f"甲 see {endpoint.uri('b')}", priority=1, disclosure="x")
    endpoint.create("b", "乙")
    endpoint.call("update_memory", uri=endpoint.uri("b"), content="丙")
    endpoint.call("add_alias", target_uri=endpoint.uri("b"), alias_uri=endpoint.uri("alias"))
    plain = endpoint.call("export_memories", domain=endpoint.domain)
    assert [row["uri"] for row in plain["memories"]] == [endpoint.uri("a"), endpoint.uri("b")]
    assert not {"versions", "relations", "aliases"} & set(plain["memories"][0])
    whole = endpoint.call("export_memories", domain=endpoint.domain, include_versions=True, include_relations=True)
    first, second = whole["memories"]
    assert first["relations"] == [{"relation": "mentions", "uri": endpoint.uri("b")}]
    assert ([each["content"] for each in second["versions"]], second["aliases"]) == (
        ["乙", "丙", "丙"],
        [endpoint.uri("alias")],
    )
    assert "甲" in endpoint.text("export_memories", domain=endpoint.domain)
    assert endpoint.call("export_memories", domain=f"{endpoint.domain}.none")["memories"] == []


@pytest.mark.clause("004 §2.11", "an export comes back whole: versions, aliases, links, times and uses")
def test_2_11_round_trip(endpoint: NotesEndpoint) -> None:
    endpoint.create("a", f"甲 see {endpoint.uri('alias')}", priority=3, disclosure="x")
    endpoint.create("b", "乙")
    endpoint.call("update_memory", uri=endpoint.uri("b"), content="丙")
    endpoint.call("add_alias", target_uri=endpoint.uri("b"), alias_uri=endpoint.uri("alias"))
    endpoint.call("read_memory", uri=endpoint.uri("b"))
    options = {"domain": endpoint.domain, "include_versions": True, "include_relations": True}
    before = endpoint.call("export_memories", **options)
    for path in ("a", "b"):
        endpoint.call("delete_memory", uri=endpoint.uri(path), force=True)
    told = endpoint.call("import_memories", data=before, strategy="skip")
    assert told["created"] == [endpoint.uri("a"), endpoint.uri("b")]
    after = endpoint.call("export_memories", **options)
    for each in (*before["memories"], *after["memories"]):
        del each["id"]  # minted anew
        each.pop("origin")
        for version in each["versions"]:
            del version["actor"]
    assert after["memories"] == before["memories"]


@pytest.mark.clause(
    "004 §2.11", "skip is the default and changes nothing; overwrite replaces; merge adds what is missing"
)
def test_2_11_strategies(endpoint: NotesEndpoint) -> None:
    data = {"memories": [{"uri": endpoint.uri("a"), "content": "one\n\ntwo", "priority": 7, "origin": "agent"}]}
    endpoint.create("a", "zero\n\none", priority=4)
    skipped = endpoint.call("import_memories", data=data)
    assert (skipped["strategy"], skipped["skipped"], skipped["delta"]) == ("skip", [endpoint.uri("a")], None)
    merged = endpoint.call("import_memories", data=data, strategy="merge")
    assert merged["changed"] == [endpoint.uri("a")]
    read = endpoint.call("read_memory", uri=endpoint.uri("a"))
    assert (read["content"], read["priority"], read["version"]) == ("zero\n\none\n\ntwo", 4, 2)
    assert endpoint.call("import_memories", data=data, strategy="merge")["skipped"] == [endpoint.uri("a")]
    endpoint.call("import_memories", data=data, strategy="overwrite")
    read = endpoint.call("read_memory", uri=endpoint.uri("a"))
    assert (read["content"], read["priority"], read["version"]) == ("one\n\ntwo", 7, 3)


@pytest.mark.clause("004 §2.11", "every strategy is one delta, which is named and can be taken back")
@pytest.mark.parametrize("strategy", ["skip", "overwrite", "merge"])
def test_2_11_undo(endpoint: NotesEndpoint, api: Server, strategy: str) -> None:
    endpoint.create("old", "here")
    rows = [{"uri": endpoint.uri(path), "content": "there"} for path in ("old", "new", "newer")]
    told = endpoint.call("import_memories", data={"memories": rows}, strategy=strategy)
    assert told["undo"] == f"codexmem undo {told['delta']}"
    assert api.post("/api/undo", {"delta": told["delta"]}).status == 200
    assert endpoint.call("read_memory", uri=endpoint.uri("old"))["content"] == "here"
    assert "was deleted" in endpoint.refusal("read_memory", uri=endpoint.uri("new"))
    text = endpoint.text("import_memories", data={"memories": [{"uri": endpoint.uri("x"), "content": "x"}]})
    assert "To take it back: `codexmem undo delta_" in text


@pytest.mark.clause(
    "004 §2.11", "a document gives no core priority, whatever it says of its origin, and adds nothing to core"
)
def test_2_11_core_is_guarded(endpoint: NotesEndpoint) -> None:
    endpoint.create_by_person("core", "mine", priority=0)
    rows: list[dict[str, Any]] = [
        {"uri": endpoint.uri("claimed"), "content": "x", "priority": 0, "origin": "import"},
        {"uri": endpoint.uri("silent"), "content": "x", "priority": 1},
        {"uri": endpoint.uri("vouched"), "content": "x", "priority": 1, "origin": "human"},
        {"uri": endpoint.uri("core"), "content": "and this", "origin": "tool"},
    ]
    told = endpoint.call("import_memories", data={"memories": rows}, strategy="merge")
    assert told["priority_not_taken_over"] == [endpoint.uri(each) for each in ("claimed", "silent", "vouched")]
    assert told["left_core"] == [endpoint.uri("core")]
    assert endpoint.paths(endpoint.call("read_memory", uri="system://boot")) == ["core"]
    assert endpoint.call("read_memory", uri=endpoint.uri("vouched"))["origin"] == "import"
    assert "only a person may" in endpoint.refusal("import_memories", data={"memories": rows}, keep_priority=True)


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
def test_2_11_wrong_documents(endpoint: NotesEndpoint, wrong: Any, said: str) -> None:
    good = {"uri": endpoint.uri("good"), "content": "x"}
    assert said in endpoint.refusal("import_memories", data={"memories": [good, copy.deepcopy(wrong)]})
    assert "there is no memory at" in endpoint.refusal("read_memory", uri=endpoint.uri("good"))
    assert "no list of memories" in endpoint.refusal("import_memories", data={})
    assert "data: " in endpoint.refusal("import_memories", data="x")
    assert "strategy: " in endpoint.refusal("import_memories", data={"memories": []}, strategy="replace")
