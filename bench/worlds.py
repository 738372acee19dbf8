"""Memories and questions of public sets in one shape, for measuring what is relevant and what is not.

A world is what one project's memory would hold: a conversation, a person's chats, a repository's sessions. A memory is
a turn, note or message, cut to 500 characters, as memories mostly are. Nothing of the sets is kept in this repository.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CUT = 500
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_PROJECTS = ("yuichat", "destyler", "translate", "alpamayo")


@dataclass(slots=True)
class Kept:
    """One memory."""

    text: str
    session: str
    person: bool = True
    speaker: str = ""


@dataclass(slots=True)
class Put:
    """One question with the places of what answers it; none: nothing does."""

    text: str
    gold: list[int] = field(default_factory=list)

    @property
    def chinese(self) -> bool:
        """Whether it is written in Chinese."""
        return CHINESE.search(self.text) is not None


@dataclass(slots=True)
class World:
    """What belongs together."""

    name: str
    suite: str
    memories: list[Kept] = field(default_factory=list)
    questions: list[Put] = field(default_factory=list)

    def add(self, text: str, session: str, *, person: bool = True, speaker: str = "") -> int:
        """Remember; returns the place."""
        self.memories.append(Kept(text.strip()[:CUT], session, person, speaker))
        return len(self.memories) - 1


def read(data: Path, seed: int = 7) -> list[World]:
    """Every set that is there."""
    rng = random.Random(seed)
    found = [*_locomo(data, rng), *_longmemeval(data, rng), *_beam(data), *_memdaily(data, rng), *_probe(data),
             *_decisions(data), *_coding(data, rng)]  # fmt: skip
    return [world for world in found if world.questions]


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _locomo(data: Path, rng: random.Random) -> Iterator[World]:
    for number, talk in enumerate(_json(data / "locomo/locomo10.json")[:4]):
        world, places = World(f"locomo{number}", "locomo"), {}
        for name, turns in talk["conversation"].items():
            for turn in turns if re.fullmatch(r"session_\d+", name) else ():
                seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                places[turn["dia_id"]] = world.add(turn["text"] + seen, name, speaker=turn["speaker"])
        told = [q for q in talk["qa"] if q["category"] != 5 and q["evidence"]]
        good = [q for q in told if all(each in places for each in q["evidence"])]
        world.questions = [Put(q["question"], [places[e] for e in q["evidence"]]) for q in rng.sample(good, 45)]
        absent = [q for q in talk["qa"] if q["category"] == 5]
        world.questions += [Put(q["question"]) for q in rng.sample(absent, 15)]
        yield world


def _longmemeval(data: Path, rng: random.Random) -> list[World]:
    rows = _json(data / "longmemeval-oracle/longmemeval_oracle.json")
    absent = [row for row in rows if row["question_id"].endswith("_abs")]
    rest = [row for row in rows if not row["question_id"].endswith("_abs")]
    rng.shuffle(rest)
    worlds = [World(f"lme{number}", "longmemeval") for number in range(10)]
    for number, row in enumerate(rest[:110] + absent[:20]):
        world, gold = worlds[number % 10], []
        for at, session in enumerate(row["haystack_sessions"]):
            for turn in session:
                if turn["role"] == "user" or turn.get("has_answer"):
                    place = world.add(turn["content"], f"{number}/{at}", person=turn["role"] == "user")
                    gold += [place] if turn.get("has_answer") else []
        if gold or row in absent:
            world.questions.append(Put(row["question"], [] if row in absent else gold))
    return worlds


def _beam(data: Path) -> Iterator[World]:
    asked = ("information_extraction", "knowledge_update", "temporal_reasoning", "contradiction_resolution",
             "multi_session_reasoning", "preference_following")  # fmt: skip
    for number in range(1, 9):
        world, places = World(f"beam{number}", "beam"), {}
        for batch in _json(data / f"beam-100k/{number}/chat.json"):
            for turn in (turn for group in batch["turns"] for turn in group if turn["role"] == "user"):
                text = re.sub(r"\s*->->.*", "", turn["content"])
                places[turn["id"]] = world.add(text, str(batch["batch_number"]))
        for kind, questions in _json(data / f"beam-100k/{number}/questions.json").items():
            for q in questions:
                source = q.get("source_chat_ids") or []
                source = [each for part in source.values() for each in part] if isinstance(source, dict) else source
                gold = [places[each] for each in source if isinstance(each, int) and each in places]
                if kind == "abstention" or (kind in asked and gold):
                    world.questions.append(Put(q["question"], [] if kind == "abstention" else gold))
        yield world


def _memdaily(data: Path, rng: random.Random) -> list[World]:
    rows = [row for file in sorted((data / "memdaily-zh").glob("0[1256]*.json")) for row in _json(file)]
    rng.shuffle(rows)
    worlds = [World(f"memdaily{number}", "memdaily") for number in range(8)]
    for number, row in enumerate(rows[:128]):
        world, places = worlds[number % 8], {}
        for message in row["message_list"]:
            places[message["mid"]] = world.add(message["message"], str(number))
        q = row["question_list"][0]
        if gold := [places[each] for each in q["target_step_id"] if each in places]:
            world.questions.append(Put(q["question"], gold))
    return worlds


def _probe(data: Path) -> list[World]:
    world = World("probe", "probe")
    for item in _json(data / "probe-zh-code/probe_zh_code.json")["items"]:
        world.questions.append(Put(item["query"], [world.add(item["note"], str(item["id"]))]))
    return [world]


def _decisions(data: Path) -> list[World]:
    world = World("sde", "sde")
    asked: dict[str, Put] = {}
    for row in _rows(data / "sde-bench/decoys.jsonl")[:70]:
        for turn in row["turns"]:
            world.add(turn["text"], row["id"], person=turn["role"] == "user")
    for row in _rows(data / "sde-bench/tasks.jsonl"):
        gold = []
        for number, session in enumerate(row["sessions"]):
            turns, name = session["turns"] if isinstance(session, dict) else session, f"{row['task_id']}/{number}"
            gold += [world.add(turn["text"], name, person=turn["role"] == "user") for turn in turns]
        if not gold:
            told = row.get("decision_rationale") or row["policy"]
            gold = [world.add(f"{row.get('decision_subject', '')}\n{told}", row["task_id"])]
        asked.setdefault(row["bug_report"], Put(row["bug_report"])).gold += gold
    world.questions = list(asked.values())
    return [world]


def sessions(file: Path) -> Iterator[dict[str, Any]]:
    """The sessions of one project."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _coding(data: Path, rng: random.Random, most: int = 230) -> Iterator[World]:
    asked = _rows(data / "coding-sessions/questions.jsonl")
    for file in sorted((data / "coding-sessions").glob("*.jsonl.gz")):
        project = file.name.split(".")[0]
        world = World(project, "coding-zh" if project in CHINESE_PROJECTS else "coding")
        mine = [q for q in asked if q["project"] == project]
        answers: dict[tuple[str, int], list[str]] = {}
        for q in mine:
            for each in q["evidence"]:
                for item in each["items"]:
                    answers.setdefault((each["session"], item), []).extend(q["answers"])
        must, texts = [], []
        for session in sessions(file):
            items = session["items"]
            for at, item in enumerate(items):
                key = (session["id"], item["i"])
                fields = ("path", "command", "output", "new")
                text = item.get("text") or " ".join(str(item.get(name) or "") for name in fields)
                if key in answers:
                    must.append((key, _answering(text, answers[key]), item["k"] == "user"))
                    continue
                last = item["k"] == "assistant" and (at + 1 == len(items) or items[at + 1]["k"] == "user")
                if (item["k"] == "user" or last) and len(text) > 20:
                    texts.append((key, text, item["k"] == "user"))
        rng.shuffle(texts)
        places = {}
        for key, text, person in sorted(texts[: max(0, most - len(must))] + must, key=lambda each: each[0]):
            places[key] = world.add(text, key[0], person=person)
        for q in mine:
            gold = [places[e["session"], i] for e in q["evidence"] for i in e["items"] if (e["session"], i) in places]
            if gold or q["category"] == "absent":
                world.questions.append(Put(q["question"], [] if q["category"] == "absent" else gold))
        yield world


def _answering(text: str, answers: list[str]) -> str:
    """Of a long text the part that answers is kept, as a summary would keep it."""
    for answer in answers:
        spot = text.lower().find(answer.lower())
        if spot > CUT - 100:
            return text[:100] + " … " + text[max(0, spot - 250) :]
    return text


# ruff: noqa: RUF001  Chinese as it is written

NONSENSE = """asdf qwer zxcv uiop
lorem ipsum dolor sit amet consectetur
flurble wogglestein quantifrax bimbo
xkcd7 blorptron mizzenflux
colorless green ideas sleep furiously
hello there
hi, how are you doing today?
good morning
thanks a lot, that was great
tell me a joke
what is the weather like in Reykjavik
how do I bake sourdough bread
who won the 1998 football world cup
what is the capital of Mongolia
recommend a good thriller movie
explain the theory of general relativity
how tall is Mount Kilimanjaro
medieval falconry techniques
translate good night into Swahili
what's the boiling point of mercury
how do bees make honey
best strategy for the Sicilian defence in chess
symptoms of vitamin D deficiency
ancient Sumerian irrigation canals
zebra migration Serengeti
can you sing
yes please continue
ok
what do you think about the meaning of life
price of bitcoin right now
the quick brown fox jumps over the lazy dog
opera houses of Vienna
how to fix a leaking kitchen faucet
quantum chromodynamics lattice simulation
photosynthesis in desert cacti
你好
早上好，最近怎么样
今天天气怎么样
讲个笑话吧
谢谢你，辛苦了
红烧肉怎么做才好吃
世界上最高的山是哪座
唐朝有多少位皇帝
请推荐一部科幻电影
怎么治疗感冒
比特币现在多少钱
量子纠缠是什么原理
冰岛的首都在哪里
如何养好一盆兰花
鲸鱼为什么会唱歌
啊啊啊啊啊啊
魑魅魍魉饕餮貔貅
火锅底料哪个牌子好
明朝海禁政策的影响
斑马为什么有条纹
继续
好的
牛顿第三定律是什么
怎样学会滑雪
小提琴怎么调音""".splitlines()
