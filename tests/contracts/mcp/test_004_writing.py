"""Contract 004 §2.1 to §2.4, §2.7 and §2.12 to §2.16: one memory, its addresses and its past."""

from __future__ import annotations

import pytest

from tests._support.mcp_calls import Agent
from tests._support.notes_endpoint import PERSON, NotesEndpoint
from tests._support.server import Server


@pytest.fixture
def endpoint(api: Server, project: str) -> NotesEndpoint:
    return NotesEndpoint(Agent(api, "http-new", "/mcp/notes"), project)


@pytest.mark.clause("004 §2.1", "content, ID, priority, disclosure, access count, versions and relations")
def test_2_1_everything_about_a_memory(endpoint: NotesEndpoint) -> None:
    made = endpoint.create("config", "端口 37877", priority=3, disclosure="when changing ports")
    endpoint.create("deploy", f"needs {endpoint.uri('config')} and {endpoint.uri('nowhere')}.")
    read = endpoint.call("read_memory", uri=endpoint.uri("config"))
    assert (read["id"], read["content"], read["priority"]) == (made["id"], "端口 37877", 3)
    assert (read["disclosure"], read["access_count"], read["status"]) == ("when changing ports", 1, "active")
    assert [(each["version"], each["note"], each["current"]) for each in read["versions"]] == [(1, "created", True)]
    assert [(each["relation"], each["direction"], each["uri"]) for each in read["relations"]] == [
        ("mentions", "from", endpoint.uri("deploy"))
    ]
    other = endpoint.call("read_memory", uri=endpoint.uri("deploy"))["relations"]
    assert [(each["direction"], each["uri"], each["exists"]) for each in other] == [
        ("to", endpoint.uri("config"), True),
        ("to", endpoint.uri("nowhere"), False),
    ]
    text = endpoint.text("read_memory", uri=endpoint.uri("config"))
    assert f"ID: {made['id']} · priority 3 · active · version 1 · read 2 times" in text
    assert "Disclosure: when changing ports" in text
    assert "端口 37877" in text


@pytest.mark.clause("004 §2.1", "an address has one spelling; one that is none, or names nothing, is refused in words")
def test_2_1_addresses(endpoint: NotesEndpoint) -> None:
    endpoint.create("a/b")
    assert endpoint.call("read_memory", uri=f" {endpoint.domain.upper()}://a//b/ ")["uri"] == endpoint.uri("a/b")
    assert "there is no memory at" in endpoint.refusal("read_memory", uri=endpoint.uri("A/B"))
    for wrong in ("config", "://x", "project://", "project://../x", "x y://z", f"a://{'x' * 600}"):
        assert "URI" in endpoint.refusal("read_memory", uri=wrong) or "relative" in endpoint.refusal(
            "read_memory", uri=wrong
        )
    assert "uri: Field required" in endpoint.refusal("read_memory")


@pytest.mark.clause("004 §2.1", "system://boot has the memories of priority 0 to 2, and no others")
def test_2_1_boot(endpoint: NotesEndpoint) -> None:
    for priority in (3, 2, 0):
        endpoint.create_by_person(f"p{priority}", f"核心 {priority}", priority=priority)
    seen = endpoint.call("read_memory", uri="system://boot")
    assert endpoint.paths(seen) == ["p0", "p2"]
    assert all(row["priority"] <= 2 for row in seen["memories"])
    assert "核心 0" in endpoint.text("read_memory", uri="system://boot")
    # What a person put there only a person takes away; an agent is told so.
    assert "only a person may take it away" in endpoint.refusal("delete_memory", uri=endpoint.uri("p0"))
    assert endpoint.agent.server.post("/api/notes/delete", {"uri": endpoint.uri("p0")}, PERSON).status == 200
    assert endpoint.paths(endpoint.call("read_memory", uri="SYSTEM://boot")) == ["p2"]


@pytest.mark.clause("004 §2.1", "what an agent writes into the core is in system://boot and every read at once")
def test_2_1_boot_has_what_an_agent_creates(endpoint: NotesEndpoint) -> None:
    uri = endpoint.uri("policy")
    for priority in range(3):
        endpoint.create(f"policy{priority}", f"push to main{priority}", priority=priority)
    seen = endpoint.call("read_memory", uri="system://boot")
    assert endpoint.paths(seen) == ["policy0", "policy1", "policy2"]
    own = [row for row in seen["memories"] if row["uri"].startswith(endpoint.domain)]
    assert [(row["content"], row["origin"], row["proposed"]) for row in own] == [
        (f"push to main{priority}", "agent", True) for priority in range(3)
    ]
    text = endpoint.text("read_memory", uri="system://boot")
    assert f"## {uri}0 [0] [proposed] [agent]\npush to main0" in text
    for view in ("system://index", "system://recent"):
        assert f"- {uri}0 [0] [proposed] [agent] push to main0" in endpoint.text("read_memory", uri=view)
    assert endpoint.text("read_memory", uri=f"{uri}0").splitlines()[1].endswith(" · [agent]")
    for tool, arguments in (("search_memory", {"query": "push"}), ("list_memories", {})):
        rows = endpoint.call(tool, domain=endpoint.domain, **arguments)["memories"]
        assert [(row["origin"], row["proposed"]) for row in rows] == [("agent", True)] * 3
    for priority in range(3):  # what an agent proposed it may take away again
        endpoint.call("delete_memory", uri=f"{uri}{priority}", force=True)


@pytest.mark.clause("004 §2.1", "an agent's change of the core is in system://boot beside what a person agreed to")
def test_2_1_boot_has_what_an_agent_changes(endpoint: NotesEndpoint) -> None:
    uri = endpoint.uri("policy")
    endpoint.create_by_person("policy", "never push to main", priority=0)
    endpoint.call("update_memory", uri=uri, content="push whenever you like")
    rows = [each for each in endpoint.call("read_memory", uri="system://boot")["memories"] if each["uri"] == uri]
    assert [(row["content"], row.get("proposed", False)) for row in rows] == [
        ("never push to main", False),
        ("push whenever you like", True),
    ]


@pytest.mark.clause("004 §2.1", "system://index, system://recent and system://recent/N")
def test_2_1_index_and_recent(endpoint: NotesEndpoint) -> None:
    for path in ("b", "a", "c"):
        endpoint.create(path, f"about {path}")
    endpoint.call("update_memory", uri=endpoint.uri("b"), priority=6)
    assert endpoint.paths(endpoint.call("read_memory", uri="system://index")) == ["a", "b", "c"]
    assert endpoint.paths(endpoint.call("read_memory", uri=f"system://index/{endpoint.domain}")) == ["a", "b", "c"]
    assert f"- {endpoint.uri('a')} [5] [agent] about a" in endpoint.text("read_memory", uri="system://index")
    assert endpoint.paths(endpoint.call("read_memory", uri="system://recent"))[:3] == ["b", "c", "a"]
    recent = endpoint.call("read_memory", uri="system://recent/" + "2")
    assert (recent["count"], endpoint.paths(recent)) == (2, ["b", "c"])
    assert "from 1 to 100" in endpoint.refusal("read_memory", uri="system://recent/0")
    assert "there is no view" in endpoint.refusal("read_memory", uri="system://nothing")
    assert "is a view" in endpoint.refusal("create_memory", uri="system://mine", content="x")


@pytest.mark.clause("004 §2.2", "URI, ID and time come back; priority is 5 and disclosure empty unless given")
def test_2_2_create(endpoint: NotesEndpoint) -> None:
    made = endpoint.create("数据库/主库", "PostgreSQL 15")
    assert (made["uri"], made["priority"], made["disclosure"]) == (endpoint.uri("数据库/主库"), 5, "")
    assert made["created_at"].endswith("Z")
    read = endpoint.call("read_memory", uri=endpoint.uri("数据库/主库"))
    assert (read["id"], read["created_at"]) == (made["id"], made["created_at"])
    text = endpoint.text("create_memory", uri=endpoint.uri("other"), content="x", priority=0, disclosure="总是")
    assert text.startswith(f"Created {endpoint.uri('other')} (ID ")


@pytest.mark.clause("004 §2.2", "what cannot be kept is refused in words: a taken address, priority, content")
def test_2_2_refusals(endpoint: NotesEndpoint) -> None:
    endpoint.create("taken")
    assert f"{endpoint.uri('taken')} already exists" in endpoint.refusal(
        "create_memory", uri=endpoint.uri("taken"), content="again"
    )
    for priority in (-1, 11, "high"):
        assert "priority: " in endpoint.refusal("create_memory", uri=endpoint.uri("x"), content="x", priority=priority)
    assert "content: " in endpoint.refusal("create_memory", uri=endpoint.uri("x"))
    assert "content is required" in endpoint.refusal("create_memory", uri=endpoint.uri("x"), content=" \n ")
    assert "content is required" in endpoint.refusal(
        "create_memory", uri=endpoint.uri("x"), content="<private>x</private>"
    )
    token = "ghp_" + "a1B2" * 9
    endpoint.create("kept", f"token={token} <private>mine</private> rest", disclosure=f"with {token}")
    read = endpoint.call("read_memory", uri=endpoint.uri("kept"))
    assert token not in str(read)
    assert "mine" not in read["content"]
    assert "looks like a secret" in endpoint.refusal("create_memory", uri=endpoint.uri(token), content="x")


@pytest.mark.clause("004 §2.3", "patch: exactly once, or it is said how often")
def test_2_3_patch(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("note", "one two two 三")["uri"]
    done = endpoint.call("update_memory", uri=uri, old_string="one", new_string="壹")
    assert (done["mode"], done["version"], done["previous_version"]) == ("patch", 2, 1)
    assert "the text to replace does not occur in the memory" in endpoint.refusal(
        "update_memory", uri=uri, old_string="one", new_string="x"
    )
    assert "the text to replace occurs 2 times" in endpoint.refusal(
        "update_memory", uri=uri, old_string="two", new_string="x"
    )
    endpoint.call("update_memory", uri=uri, old_string=" 三", new_string="")
    assert endpoint.call("read_memory", uri=uri)["content"] == "壹 two two"
    assert "belong together" in endpoint.refusal("update_memory", uri=uri, old_string="two")
    assert "not both" in endpoint.refusal("update_memory", uri=uri, old_string="壹", new_string="1", content="x")


@pytest.mark.clause("004 §2.3", "append adds at the end, content alone replaces, priority and disclosure stand alone")
def test_2_3_append_and_replace(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("note", "第一行")["uri"]
    endpoint.call("update_memory", uri=uri, content="第二行", append=True)
    assert endpoint.call("read_memory", uri=uri)["content"] == "第一行\n第二行"
    endpoint.call("update_memory", uri=uri, content="全新", append=False, old_string=None)
    changed = endpoint.call("update_memory", uri=uri, priority=1, disclosure="部署时")
    assert (changed["priority"], changed["disclosure"], changed["mode"], changed["version"]) == (1, "部署时", "none", 4)
    assert endpoint.call("update_memory", uri=uri, disclosure="")["disclosure"] == ""
    assert "append needs content" in endpoint.refusal("update_memory", uri=uri, append=True)
    assert "nothing to change" in endpoint.refusal("update_memory", uri=uri)
    assert "there is no memory at" in endpoint.refusal("update_memory", uri=endpoint.uri("none"), content="x")
    versions = endpoint.call("get_memory_versions", uri=uri)["versions"]
    assert [each["note"] for each in versions[1:4]] == [
        "set priority 1; set disclosure", "replaced the content", "appended to the content",
    ]  # fmt: skip


@pytest.mark.clause(
    "004 §2.4", "hidden from reading, search, lists and views; history kept; brought back by rollback_memory"
)
def test_2_4_delete_and_restore(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("gone", "要删除的", priority=1)["uri"]
    told = endpoint.call("delete_memory", uri=uri)
    assert (told["erased"], told["restorable_version"]) == (False, 1)
    assert told["restore"] == f"rollback_memory(uri={uri!r}, version=1)"
    assert told["restore"] in endpoint.refusal("read_memory", uri=uri)
    assert "was deleted" in endpoint.refusal("delete_memory", uri=uri)
    assert "was deleted" in endpoint.refusal("update_memory", uri=uri, content="x")
    assert endpoint.call("search_memory", query="要删除的", domain=endpoint.domain)["memories"] == []
    assert endpoint.call("list_memories", domain=endpoint.domain)["memories"] == []
    assert endpoint.paths(endpoint.call("list_memories", domain=endpoint.domain, status="deleted")) == ["gone"]
    versions = endpoint.call("get_memory_versions", uri=uri)
    assert (versions["status"], versions["versions"][0]["operation"]) == ("deleted", "delete")
    endpoint.call("rollback_memory", uri=uri, version=1)
    assert endpoint.call("read_memory", uri=uri)["content"] == "要删除的"


@pytest.mark.clause("004 §2.4", "an address that was deleted can be created again; its history goes on")
def test_2_4_created_again(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("again", "first")["uri"]
    endpoint.call("delete_memory", uri=uri, force=False)
    made = endpoint.create("again", "second")
    assert (made["revived"], made["version"]) == (True, 3)
    assert endpoint.call("diff_versions", uri=uri, version1=1, version2=3)["version1"]["content"] == "first"


@pytest.mark.clause("004 §2.4", "force erases versions, aliases and links, of a deleted memory too")
def test_2_4_force(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("erased", "secret plan")["uri"]
    endpoint.create("other", f"see {uri}")
    endpoint.call("add_alias", target_uri=uri, alias_uri=endpoint.uri("alias"))
    endpoint.call("delete_memory", uri=uri)
    assert endpoint.call("delete_memory", uri=endpoint.uri("alias"), force=True)["erased"] is True
    for tool in ("read_memory", "get_memory_versions", "list_rollbacks"):
        assert "there is no memory at" in endpoint.refusal(tool, uri=uri)
    (relation,) = endpoint.call("read_memory", uri=endpoint.uri("other"))["relations"]
    assert relation["exists"] is False
    assert endpoint.create("erased", "anew")["version"] == 1


@pytest.mark.clause(
    "004 §2.7", "a record; with a summary a memory under session:// too; neither title nor summary is needed"
)
def test_2_7_save_session(endpoint: NotesEndpoint, api: Server) -> None:
    before = api.request("GET", "/api/stats").json
    saved = endpoint.call("save_session", title="修复 超时!", summary=f"改了 {endpoint.uri('timeout')}")
    assert saved["session_id"] > 0
    assert saved["uri"].startswith("session://")
    assert saved["uri"].endswith(f"{saved['session_id']}-修复-超时")
    read = endpoint.call("read_memory", uri=saved["uri"])
    assert (read["content"], read["id"]) == (f"改了 {endpoint.uri('timeout')}", saved["memory_id"])
    bare = endpoint.call("save_session")
    assert (bare["uri"], bare["session_id"] > saved["session_id"]) == (None, True)
    assert endpoint.call("save_session", title="only a title")["title"] == "only a title"
    assert before


@pytest.mark.clause("004 §2.12", "the contract's examples: one memory, read and changed by either address")
def test_2_12_alias(endpoint: NotesEndpoint) -> None:
    target, alias = endpoint.uri("core/agent/my_user"), endpoint.uri("user://profile".replace("://", "/"))
    endpoint.call("create_memory", uri=target, content="likes Chinese")
    told = endpoint.call("add_alias", target_uri=target, alias_uri=alias)
    assert (told["uri"], told["alias_uri"], told["aliases"]) == (target, alias, [alias])
    endpoint.call("update_memory", uri=alias, content="喜欢中文")
    assert endpoint.call("read_memory", uri=target)["content"] == "喜欢中文"
    assert "already names this memory" in endpoint.refusal("add_alias", target_uri=target, alias_uri=alias)
    endpoint.create("other")
    assert "already names another memory" in endpoint.refusal(
        "add_alias", target_uri=endpoint.uri("other"), alias_uri=alias
    )
    assert "already exists" in endpoint.refusal("create_memory", uri=alias, content="x")
    assert "there is no memory at" in endpoint.refusal(
        "add_alias", target_uri=endpoint.uri("no"), alias_uri=endpoint.uri("x")
    )
    assert "is a view" in endpoint.refusal("add_alias", target_uri=target, alias_uri="system://boot")


@pytest.mark.clause("004 §2.13", "current version, and each version with its time and note, the newest first")
def test_2_13_versions(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("history", "0")["uri"]
    for number in range(1, 12):
        endpoint.call("update_memory", uri=uri, content=str(number))
    told = endpoint.call("get_memory_versions", uri=uri)
    assert (told["current_version"], [each["version"] for each in told["versions"]]) == (12, list(range(12, 2, -1)))
    assert all(each["created_at"].endswith("Z") and each["note"] for each in told["versions"])
    assert len(endpoint.call("get_memory_versions", uri=uri, limit=3)["versions"]) == 3
    assert len(endpoint.call("get_memory_versions", uri=uri, limit="100")["versions"]) == 12
    assert "limit: " in endpoint.refusal("get_memory_versions", uri=uri, limit=0)


@pytest.mark.clause("004 §2.14", "an earlier content as a new version; the rollback itself can be rolled back")
def test_2_14_rollback(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("note", "甲", priority=4)["uri"]
    endpoint.call("update_memory", uri=uri, content="乙", priority=6)
    done = endpoint.call("rollback_memory", uri=uri, version=1)
    assert (done["content"], done["priority"], done["version"], done["previous_version"]) == ("甲", 4, 3, 2)
    assert done["changes"] == ["content: +1 -1 lines", "priority: 6 → 4"]
    versions = endpoint.call("get_memory_versions", uri=uri)["versions"]
    assert [(each["operation"], each["note"]) for each in versions[:1]] == [("restore", "rollback to version 1")]
    assert endpoint.call("rollback_memory", uri=uri, version=2)["content"] == "乙"
    assert "has no version 9" in endpoint.refusal("rollback_memory", uri=uri, version=9)
    assert "version: " in endpoint.refusal("rollback_memory", uri=uri)


@pytest.mark.clause("004 §2.14", "content, priority, disclosure and status go back; aliases added since stay")
def test_2_14_rollback_leaves_aliases_alone(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("one", "甲", disclosure="when 甲")["uri"]
    endpoint.call("update_memory", uri=uri, content="乙", disclosure="", status="archived")
    endpoint.call("add_alias", target_uri=uri, alias_uri=endpoint.uri("alias"))
    done = endpoint.call("rollback_memory", uri=uri, version=1)
    assert (done["content"], done["disclosure"], done["status"]) == ("甲", "when 甲", "active")
    assert done["aliases"] == [endpoint.uri("alias")]
    assert endpoint.call("read_memory", uri=endpoint.uri("alias"))["content"] == "甲"
    ways = endpoint.call("list_rollbacks", uri=uri)["rollbacks"]
    assert not any("address" in change for way in ways for change in way["would_change"])


@pytest.mark.clause("004 §2.8", "update_memory sets deprecated and archived, and active again, each as a version")
def test_2_8_status_is_set_by_update(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("plan", "ship the pomegranate build on Friday")["uri"]

    def found() -> list[str]:
        return endpoint.paths(endpoint.call("search_memory", query="pomegranate", domain=endpoint.domain))

    for status in ("deprecated", "archived"):
        written = endpoint.call("update_memory", uri=uri, status=status)
        assert (written["status"], found()) == (status, [])
        assert endpoint.paths(endpoint.call("list_memories", domain=endpoint.domain, status=status)) == ["plan"]
    assert endpoint.call("update_memory", uri=uri, status="active")["version"] == 4
    assert found() == ["plan"]
    notes = [each["note"] for each in endpoint.call("get_memory_versions", uri=uri)["versions"]]
    assert notes[:2] == ["set status active", "set status archived"]
    assert "status: " in endpoint.refusal("update_memory", uri=uri, status="deleted")


@pytest.mark.clause("004 §2.15", "both contents whole, a unified diff, and what else differs")
def test_2_15_diff(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("note", "第一行\nsame")["uri"]
    endpoint.call("update_memory", uri=uri, content="改过\nsame", priority=2)
    told = endpoint.call("diff_versions", uri=uri, version1=1, version2=2)
    assert (told["version1"]["content"], told["version2"]["content"]) == ("第一行\nsame", "改过\nsame")
    assert told["diff"].splitlines()[2:] == ["@@ -1,2 +1,2 @@", "-第一行", "+改过", " same"]
    assert told["changes"] == ["content: +1 -1 lines", "priority: 5 → 2"]
    same = endpoint.call("diff_versions", uri=uri, version1=2, version2=2)
    assert (same["diff"], same["changes"]) == ("", [])
    assert "has no version 3" in endpoint.refusal("diff_versions", uri=uri, version1=1, version2=3)


@pytest.mark.clause("004 §2.16", "each earlier version with a summary and what bringing it back would change")
def test_2_16_rollbacks(endpoint: NotesEndpoint) -> None:
    uri = endpoint.create("note", "甲", disclosure="x")["uri"]
    assert endpoint.call("list_rollbacks", uri=uri)["rollbacks"] == []
    endpoint.call("update_memory", uri=uri, content="乙", disclosure="")
    endpoint.call("add_alias", target_uri=uri, alias_uri=endpoint.uri("alias"))
    endpoint.call("delete_memory", uri=uri)
    told = endpoint.call("list_rollbacks", uri=uri, limit=2)
    assert (told["current_version"], [each["version"] for each in told["rollbacks"]]) == (4, [3, 2])
    first = endpoint.call("list_rollbacks", uri=uri)["rollbacks"][-1]
    assert (first["version"], first["summary"]) == (1, "甲")
    assert first["would_change"] == [
        "content: +1 -1 lines", "status: deleted → active", "disclosure: (none) → x",
    ]  # fmt: skip
    assert "would change: status: deleted → active" in endpoint.text("list_rollbacks", uri=uri)
