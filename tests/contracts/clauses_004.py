"""Contract 004, clause by clause: what each demands, and the names in it that a test of the clause must mention."""

from __future__ import annotations

from tests.contracts.clause import Clause

CLAUSES: dict[str, Clause] = {
    "004 §1": Clause(
        "MCP tools/list has the sixteen tools, each with exactly its parameters",
        "read_memory create_memory update_memory delete_memory search_memory preload_memory save_session list_memories "
        "get_memory_stats export_memories import_memories add_alias get_memory_versions rollback_memory diff_versions "
        "list_rollbacks uri content priority disclosure old_string new_string append force query domain limit "
        "priority_min priority_max context_type context_data title summary status include_versions include_relations "
        "data strategy target_uri alias_uri version version1 version2",
    ),
    "004 §2.1": Clause(
        "`read_memory`: content, ID, priority, disclosure, access count, recent versions, relations; and the views",
        "uri content id priority disclosure access_count versions relations system://boot system://index "
        "system://recent system://recent/",
    ),
    "004 §2.2": Clause(
        "`create_memory`: URI, ID and time; priority 0-10, 5 unless given",
        "uri content priority disclosure id created_at",
    ),
    "004 §2.3": Clause(
        "`update_memory`: patch, append, replace; priority and disclosure; the state before is a version",
        "uri content old_string new_string append priority disclosure version patch replace",
        ("the text to replace does not occur in the memory", "the text to replace occurs 2 times"),
    ),
    "004 §2.4": Clause(
        "`delete_memory` hides and keeps the history, which brings it back; `force` erases",
        "uri force deleted rollback_memory",
    ),
    "004 §2.5": Clause(
        "`search_memory` over URI, content and disclosure, by domain and priority, ten unless said otherwise",
        "query domain limit priority_min priority_max disclosure",
    ),
    "004 §2.6": Clause(
        "`preload_memory`: core memories, and what bears on a file, a directory, an error or an intent",
        "context_type context_data file directory error intent core related reasons",
    ),
    "004 §2.7": Clause("`save_session`: a record and, with a summary, a memory of it", "title summary session_id"),
    "004 §2.8": Clause(
        "`list_memories` by domain, status and priority, twenty unless said otherwise",
        "domain status active deprecated archived limit priority_min priority_max",
    ),
    "004 §2.9": Clause("`get_memory_stats`: total, by status, by domain, access", "total by_status by_domain access"),
    "004 §2.10": Clause(
        "`export_memories`: JSON, of a domain, with versions and relations if asked for",
        "domain include_versions include_relations versions relations aliases",
    ),
    "004 §2.11": Clause(
        "`import_memories`: skip, overwrite or merge; skip unless given", "data strategy skip overwrite merge delta"
    ),
    "004 §2.12": Clause("`add_alias`: one memory under several addresses", "target_uri alias_uri user://profile"),
    "004 §2.13": Clause(
        "`get_memory_versions`: current version and the history with times and notes, ten unless said otherwise",
        "uri limit current_version versions created_at note",
    ),
    "004 §2.14": Clause(
        "`rollback_memory`: the content of a version as a new version; the history stays", "uri version rollback"
    ),
    "004 §2.15": Clause("`diff_versions`: both contents, to compare", "uri version1 version2 content diff"),
    "004 §2.16": Clause(
        "`list_rollbacks`: current version, what can be brought back, a summary of each; ten unless said otherwise",
        "uri limit current_version rollbacks summary would_change",
    ),
}
