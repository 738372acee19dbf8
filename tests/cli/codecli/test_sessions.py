"""`mem-codecli sessions`: what is kept of this project in this folder, and of no other."""

from __future__ import annotations

from pathlib import Path

from codexmem.codecli.turns import RecentTurn, RecentTurns
from tests.cli.conftest import Call


def keep(home: Path, work: Path, project: str, *turns: RecentTurn) -> None:
    kept = RecentTurns(str(home / ".local" / "state" / "mem-codecli"), project, str(work), lambda text: text)
    for turn in turns:
        kept.add(turn)


OLD = RecentTurn(1_700_000_000_000, "aaaa1111-0000-4000-8000-000000000000", "如何部署商店？", "打标签。")
NEW = RecentTurn(1_700_000_060_000, "bbbb2222-0000-4000-8000-000000000000", "\x1b[2Jand then?", "Push it.")


def test_the_turns_of_a_project_in_a_folder_are_listed_and_shown(call: Call, home: Path, work: Path) -> None:
    keep(home, work, "shop", OLD, NEW)
    keep(home, work, "other", OLD)
    said = call("sessions", "ls", "--project-id", "shop")
    assert said.out.splitlines() == [
        "bbbb2222  2023-11-14 22:14:20  [2Jand then?",
        "aaaa1111  2023-11-14 22:13:20  如何部署商店？",
    ]
    assert [turn["run_id"] for turn in call("sessions", "ls", "--project-id", "shop", "--json").json["turns"]] == [
        NEW.run_id, OLD.run_id,
    ]  # fmt: skip
    text = call("sessions", "show", "aaaa", "--project-id", "shop").out
    assert text == f"{OLD.run_id}  2023-11-14 22:13:20\nasked: 如何部署商店？\nsaid: 打标签。\n"
    assert "提问：如何部署商店？" in call("sessions", "show", "aaaa", "--project-id", "shop", "--lang", "zh").out
    assert call("sessions", "show", NEW.run_id, "--project-id", "shop", "--json").json["turns"][0]["said"] == "Push it."


def test_what_is_not_kept_is_told(call: Call, home: Path, work: Path) -> None:
    said = call("sessions", "ls")
    assert (said.code, said.out) == (0, "")
    assert "no turns of work in this folder" in said.err
    said = call("sessions", "show", "cccc")
    assert said.code == 3
    assert "sessions ls" in said.err
