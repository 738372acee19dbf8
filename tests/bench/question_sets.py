"""Small question sets in each published format, every sentence written here, with the known faults planted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def turn(number: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": number, "speaker": speaker, "text": text, **more}


def qa(question: str, category: int, *evidence: str) -> dict[str, Any]:
    return {"question": question, "answer": "-", "evidence": list(evidence), "category": category}


def conversation(name: str) -> dict[str, Any]:
    return {
        "sample_id": name,
        "observation": {"never": "read"},
        "conversation": {
            "speaker_a": "Mina",
            "speaker_b": "Otto",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Mina", "My violin lesson moved to Thursday."),
                turn("D1:2", "Otto", "I repaired the greenhouse roof.", blip_caption="a glass roof in the sun"),
            ],
            "session_2_date_time": "12:05 am on 3 June, 2023",
            "session_2": [
                turn("D2:5", "Otto", "The tomatoes ripened at last."),
                turn("D2:6", "Mina", "I bought a harmonica for the trip."),
            ],
            "session_10_date_time": "no date at all",
            "session_10": [turn("D10:1", "Mina", "The ferry to the island was cancelled.")],
        },
        "qa": [
            qa("Which instruments does Mina have?", 1, "D1:1; D2:6"),
            qa("When did Otto repair the greenhouse roof?", 2, "D:1:2"),
            qa("Would Otto enjoy a farm?", 3),
            qa("What ripened?", 4, "D2:05", "D"),
            qa("What happened to the ferry?", 4, "D10:1", "D10:19"),
            qa("When did Mina repair the greenhouse roof?", 5, "D1:2"),
        ],
    }


def write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def locomo(folder: Path, conversations: int = 4) -> None:
    write(folder / "locomo/locomo10.json", [conversation(f"talk-{number}") for number in range(conversations)])


def message(number: int, role: str, content: str, **more: str) -> dict[str, Any]:
    return {"id": number, "role": role, "content": content, **more}


def beam(folder: Path) -> None:
    chat = [
        {
            "batch_number": 1,
            "turns": [
                [
                    message(0, "user", "I keep bees. ->-> 1,1", time_anchor="March-15-2024"),
                    message(1, "assistant", "How many hives?"),
                ],
                [message(2, "user", "Two hives ->-> 2,(a remark\nover two lines)")],
            ],
        },
        {"batch_number": 2, "turns": [[message(3, "user", "Three hives now.", time_anchor="someday")]]},
    ]
    questions = {
        "abstention": [{"question": "What colour is my car?"}],
        "knowledge_update": [
            {"question": "How many hives?", "source_chat_ids": {"original_info": [2], "updated_info": [3]}}
        ],
        "event_ordering": [{"question": "What came first?", "source_chat_ids": [[0], [2, 99]]}],
        "summarization": [{"question": "Sum it up.", "source_chat_ids": []}],
    }
    for number in ("1", "6", "10"):
        write(folder / "beam-100k" / number / "chat.json", chat)
        write(folder / "beam-100k" / number / "questions.json", questions)


def longmemeval(folder: Path) -> None:
    def said(text: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": text, "has_answer": True}, {"role": "assistant", "content": "Noted."}]

    def entry(name: str, sessions: dict[str, tuple[str, str]], answers: list[str]) -> dict[str, Any]:
        return {
            "question_id": name,
            "question_type": "multi-session",
            "question": f"What about {name}?",
            "question_date": "2023/06/01 (Thu) 09:30",
            "haystack_session_ids": list(sessions),
            "haystack_dates": [date for date, _ in sessions.values()],
            "haystack_sessions": [said(text) for _, text in sessions.values()],
            "answer_session_ids": answers,
        }

    late, early = "2023/05/20 (Sat) 17:50", "2023/05/01 (Mon) 08:00"
    entries = [
        entry("kite", {"answer_a_1": (late, "The kite is red."), "answer_a_2": (early, "I lost a kite.")},
              ["answer_a_1", "answer_a_2"]),
        entry("kayak_abs", {"answer_b_abs_1": (early, "I own a canoe.")}, ["answer_b_abs_1"]),
        entry("kiln", {"answer_c_1": (late, "The kiln cracked."), "answer_a_1": (early, "The kite is red.")},
              ["answer_c_1"]),
        entry("kelp", {"answer_d_1": (early, "Kelp soup again.")}, ["answer_d_1"]),
        entry("kale", {"answer_e_1": (early, "Kale grows well.")}, ["answer_e_1"]),
    ]  # fmt: skip
    write(folder / "longmemeval-oracle/longmemeval_oracle.json", entries)


def memdaily(folder: Path) -> None:
    def diary(number: int) -> dict[str, Any]:
        return {
            "tid": number,
            "message_list": [
                {
                    "mid": 0,
                    "message": f"第{number}天我去了码头。",
                    "time": "2024年04月01日 周一 08:38",
                    "place": "码头",
                },
                {"mid": 1, "message": "晚上喝了薄荷茶。", "time": "不详", "place": "家"},
            ],
            "question_list": [
                {"question": "我去了哪里？", "target_step_id": [0, 7], "time": "2024年04月06日 周六 07:24"},
            ],
        }

    write(folder / "memdaily-zh/05_post_processing_events.json", [diary(number) for number in (4, 5)])
    write(folder / "memdaily-zh/01_simple_roles.json", [diary(6)])


def probe(folder: Path) -> None:
    memdaily(folder)
    items = [
        {"id": 1, "kind": "zh", "style": "-", "note": "部署脚本在周五冻结。", "query": "什么时候冻结部署"},
        {"id": 2, "kind": "code", "style": "-", "note": "parse_port() 抛出 ValueError", "query": "parse_port 报错"},
    ]
    write(folder / "probe-zh-code/probe_zh_code.json", {"license": "CC0", "items": items})


def everything(folder: Path) -> None:
    for make in (locomo, beam, longmemeval, probe):
        make(folder)
