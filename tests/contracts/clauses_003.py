"""Contract 003, clause by clause: the ten methods, the protocol they are called by, and the roots they stay in."""

from __future__ import annotations

from tests.contracts.clause import Clause

CLAUSES: dict[str, Clause] = {
    "003 §0": Clause(
        "JSON-RPC 2.0: requests, notifications, batches, ids of every kind, every error code",
        "jsonrpc method params id result error code message -32700 -32600 -32601 -32602 -32603 -32001",
    ),
    "003 §1": Clause("memory_init_workspace makes a fresh folder and answers its path", "task_id path"),
    "003 §2": Clause("memory_add answers id and summary; tags are optional", "content summary tags id kb-"),
    "003 §3": Clause("memory_query finds the best entries, three unless top_k says more", "query top_k results"),
    "003 §4": Clause("memory_delete deletes an entry and says so", "kb_id status success id"),
    "003 §5": Clause(
        "memory_cleanup removes a workspace for good and says where it was", "task_id status success path"
    ),
    "003 §6": Clause(
        "memory_get_status tells how knowledge base and workspaces are",
        "status ok kb_status loaded workspace_status clean active",
    ),
    "003 §7": Clause("memory_dump shows a level whole, all unless one is given", "level kb workspace all status data"),
    "003 §8": Clause(
        "memory_search looks through a level, all unless one is given",
        "query level kb workspace all status results source key value content summary tags",
    ),
    "003 §9": Clause(
        "memory_backup writes everything to a file with its time in the name",
        "status ok message backup_path memory_backup_",
        ("Backup successful.",),
    ),
    "003 §10": Clause(
        "memory_restore replaces everything by what a backup holds",
        "backup_path status ok message",
        ("恢复成功",),
    ),
}
