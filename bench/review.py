"""The review of memories, measured: what it finds of planted duplicates and contradictions, and what that costs.

A made-up project says facts in English and Chinese: of each some say the same again, to the letter or by another
sentence, and some say another value; others only look alike (the same sentence of another service, another setting of
the same one). Every pair that the job finds is compared with what was planted. `--data` takes lines of real texts,
one JSON array [project, session, text] for each, and tells how many findings there are for 1,000 of them.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import stores
from codexmem.kernel.embed import local
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from codexmem.recall.pairs import FindingReason
from codexmem.recall.review_scan import REVIEWED
from tests._support import reviewing
from tests._support.reviewing import ReviewParts

PROJECT = "review"
PRECISION = {"exact": 1.0, "duplicate": 0.9, "contradiction": 0.9}  # that a run must reach
RECALL = {"exact": 1.0, "duplicate": 0.5, "contradiction": 0.7}
_OPEN = ("duplicate", "contradiction")


@dataclass(frozen=True)
class Family:
    """One thing that can be said of many subjects, in several ways."""

    name: str
    sentences: tuple[str, ...]  # ways to say it
    subjects: tuple[str, ...]
    values: tuple[str, ...]


_SERVICES = ("dev server", "metrics endpoint", "admin console", "billing service", "search proxy", "auth gateway",
             "image resizer", "webhook relay", "mail worker", "report renderer")  # fmt: skip
_SERVICES_ZH = ("开发服务器", "监控端点", "管理后台", "计费服务", "搜索代理", "认证网关", "图片缩放器", "通知中继",
                "邮件进程", "报表渲染器")  # fmt: skip
FAMILIES = (
    Family("port", ("The {s} listens on port {v}.", "The {s} runs on port {v}.", "Port {v} is used by the {s}."),
           _SERVICES, ("3000", "5179", "8080", "9090", "6100")),
    Family("timeout", ("The request timeout of the {s} is {v} seconds.",
                       "Requests to the {s} time out after {v} seconds.",
                       "Request timeout for the {s}: {v} seconds."), _SERVICES, ("15", "30", "60", "120")),
    Family("retries", ("The {s} retries failed calls {v} times.", "Failed calls of the {s} are retried {v} times."),
           _SERVICES, ("two", "three", "5", "8")),
    Family("config", ("The configuration of the {s} lives in {v}.", "The {s} reads its configuration from {v}."),
           _SERVICES, ("config/app.toml", "deploy/values.yaml", "settings.json", "etc/service.ini")),
    Family("day", ("The {s} is deployed on {v}.", "Deploys of the {s} happen on {v}.", "We deploy the {s} every {v}."),
           _SERVICES, ("Monday", "Tuesday", "Thursday", "Friday")),
    Family("tool", ("We use {v} for {s}.", "For {s} we use {v}.", "Our choice for {s} is {v}."),
           ("session storage", "background jobs", "schema migrations", "browser tests", "load balancing",
            "log shipping", "feature flags", "secret storage"),
           ("Redis", "Kafka", "Celery", "PostgreSQL", "Playwright", "Vault", "Nginx")),
    Family("rule", ("{v} {s}.", "Rule: {v} {s}.", "From now on, {v} {s}."),
           ("squash commits before merging", "commit generated files", "run migrations by hand", "log request bodies",
            "pin exact versions in lock files", "mock the database in tests", "push directly to the release branch",
            "rebase feature branches before review"), ("always", "never")),
    Family("port-zh", ("{s}监听端口 {v}。", "{s}的端口是 {v}。", "端口 {v} 由{s}使用。"),
           _SERVICES_ZH, ("3000", "5179", "8080", "9090")),
    Family("timeout-zh", ("{s}的请求超时是 {v} 秒。", "{s}的请求在 {v} 秒后超时。"), _SERVICES_ZH, ("15", "30", "60")),
    Family("tool-zh", ("{s}用 {v}。", "{s}我们使用 {v}。", "我们决定{s}采用 {v}。"),
           ("会话存储", "后台任务", "数据库迁移", "浏览器测试", "负载均衡", "日志收集"),
           ("Redis", "Kafka", "Celery", "Nginx", "Vault")),
    Family("rule-zh", ("{v}{s}。", "请记住:{v}{s}。", "以后{v}{s}。"),
           ("在合并之前压缩提交", "提交生成的文件", "手动执行迁移", "在日志里记录请求正文", "在测试里模拟数据库"),
           ("要", "不要")),
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """One memory of the made-up project, and what it says."""

    text: str
    fact: tuple[str, str]  # family and subject
    value: str


def project(chance: random.Random) -> list[Said]:
    """Every fact once, a third of them again in the same or other words, a third with another value, shuffled."""
    made: list[Said] = []
    for family in FAMILIES:
        for subject in family.subjects:
            value = chance.choice(family.values)
            first = chance.choice(family.sentences)
            made.append(_said(family, first, subject, value))
            fate = chance.randrange(4)
            if fate == 0:
                made.append(Said(_respelled(made[-1].text, chance), made[-1].fact, value))
            elif fate == 1:
                other = chance.choice([each for each in family.sentences if each != first])
                made.append(_said(family, other, subject, value))
            elif fate == 2:
                another = chance.choice([each for each in family.values if each != value])
                made.append(_said(family, chance.choice(family.sentences), subject, another))
    chance.shuffle(made)
    return made


def _said(family: Family, sentence: str, subject: str, value: str) -> Said:
    text = sentence.format(s=subject, v=value)
    return Said(text[:1].upper() + text[1:], (family.name, subject), value)


def _respelled(text: str, chance: random.Random) -> str:
    """The same to the letter but for what nobody reads."""
    return chance.choice((text, text.rstrip(".。"), text.replace(" ", "  ", 1), text.lower()))


def planted(said: Sequence[Said]) -> dict[str, set[frozenset[int]]]:
    """Pairs of places that are duplicates or contradict each other; exact ones apart."""
    pairs: dict[str, set[frozenset[int]]] = {"exact": set(), "duplicate": set(), "contradiction": set()}
    for later, new in enumerate(said):
        for earlier, old in enumerate(said[:later]):
            if new.fact == old.fact:
                same = _plain(new.text) == _plain(old.text)
                reason = "contradiction" if new.value != old.value else "exact" if same else "duplicate"
                pairs[reason].add(frozenset({later, earlier}))
    return pairs


def _plain(text: str) -> str:
    return " ".join(text.lower().rstrip(".。").split())


def found_pairs(here: ReviewParts, seqs: Sequence[int]) -> dict[str, set[frozenset[int]]]:
    """Pairs of places that the job found, or made one."""
    place = {seq: number for number, seq in enumerate(seqs)}
    pairs: dict[str, set[frozenset[int]]] = {"exact": set(), "duplicate": set(), "contradiction": set()}
    for finding in here.findings.open_pairs(None, [reason.value for reason in FindingReason], 100_000):
        pairs[finding.key.reason].add(frozenset({place[finding.key.seq], place[finding.key.other]}))
    for seq in seqs:
        memory = here.base.memories.get(Seq(seq), REVIEWED)
        if memory.state.status is Status.DEPRECATED:
            kept = next(other for relation, other in here.base.memories.linked_to(seq) if relation == "supersedes")
            pairs["exact"].add(frozenset({place[seq], place[kept]}))
    return pairs


def measure(here: ReviewParts, said: Sequence[Said]) -> dict[str, Any]:
    """Precision and recall for each reason, and what it cost."""
    seqs = [here.claim(each.text, project=PROJECT).seq for each in said]
    here.base.catch_up()
    began = time.process_time()
    here.look()
    seconds = time.process_time() - began
    wanted, found = planted(said), found_pairs(here, seqs)
    figures: dict[str, Any] = {"memories": len(said), "CPU seconds for 1,000": round(1_000 * seconds / len(said), 2)}
    for reason in wanted:
        right = len(wanted[reason] & found[reason])
        figures[reason] = {
            "planted": len(wanted[reason]), "found": len(found[reason]),
            "precision": round(right / len(found[reason]), 3) if found[reason] else 1.0,
            "recall": round(right / len(wanted[reason]), 3) if wanted[reason] else 1.0,
        }  # fmt: skip
    figures["wrong"] = [f"{said[a].text} | {said[b].text}" for reason in wanted
                        for a, b in map(sorted, found[reason] - wanted[reason])][:10]  # fmt: skip
    figures["missed"] = [f"{reason}: {said[a].text} | {said[b].text}" for reason in wanted
                         for a, b in map(sorted, wanted[reason] - found[reason])][:30]  # fmt: skip
    return figures


def growth(here: ReviewParts, chance: random.Random, sizes: Sequence[int]) -> dict[str, float]:
    """CPU seconds for 1,000 new memories in stores of these sizes."""
    took: dict[str, float] = {}
    stored = 0
    for size in sizes:
        while stored < size:
            here.claim(_filler(chance), project="filler")
            stored += 1
            if stored % 1_000 == 0 or stored == size:
                began = time.process_time()
                here.look()
                took[f"{size:,}"] = round(time.process_time() - began, 2)
    return took


_BEGINNINGS = ("cor", "del", "fim", "gra", "hun", "jor", "kel", "lom", "mar", "nis", "pol", "qua", "rin", "sol", "ver")
_ENDINGS = ("ban", "dor", "fin", "gel", "lis", "mon", "nar", "tis", "vak")
_WORDS = tuple(f"{beginning}{ending}" for beginning in _BEGINNINGS for ending in _ENDINGS)


def _filler(chance: random.Random) -> str:
    words = chance.choices(_WORDS, k=8)
    return f"The {words[0]} {words[1]} of {words[2]} {words[3]} is {chance.randrange(9_999)} {' '.join(words[4:])}."


def real(here: ReviewParts, data: Path, shown: int) -> dict[str, Any]:
    """How much is found in real texts, and some of it to look at."""
    rows: list[tuple[str, str, str]] = json.loads(data.read_text(encoding="utf-8"))
    texts: dict[int, str] = {}
    for name, _, text in rows:
        texts[here.claim(text, project=name).seq] = text
    here.base.catch_up()
    began = time.process_time()
    here.look()
    seconds = time.process_time() - began
    found = here.findings.open_pairs(None, [reason.value for reason in FindingReason], 100_000)
    merged = sum(here.base.memories.get(Seq(seq), REVIEWED).state.status is Status.DEPRECATED for seq in texts)
    figures: dict[str, Any] = {"memories": len(rows), "merged": merged,
                               "CPU seconds for 1,000": round(1_000 * seconds / len(rows), 2)}  # fmt: skip
    for reason in _OPEN:
        own = [each for each in found if each.key.reason == reason]
        figures[f"{reason} for 1,000"] = round(1_000 * len(own) / len(rows), 1)
        chosen = random.Random(1).sample(own, min(shown, len(own)))
        figures[f"some of {reason}"] = [
            f"{each.score:.2f} {texts[each.key.other]} | {texts[each.key.seq]}" for each in chosen
        ]
    return figures


def kept(figures: Mapping[str, Any]) -> bool:
    """Whether a run was as good as it must be."""
    return all(figures[reason]["precision"] >= PRECISION[reason] and figures[reason]["recall"] >= RECALL[reason]
               for reason in PRECISION)  # fmt: skip


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for name, value in document.items():
        if isinstance(value, list):
            yield f"{name}:"
            yield from (f"  {each}" for each in value)
        else:
            yield f"{name}: {value}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure on each engine, and print."""
    parser = report.arguments(__doc__)
    parser.add_argument("--embedder", choices=("none", "local"), default="none")
    parser.add_argument("--data", type=Path, help="real texts, a JSON array of [project, session, text]")
    parser.add_argument("--shown", type=int, default=15, help="findings of each reason in real texts to print")
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="memories after which 1,000 more are timed")
    given = parser.parse_args(argv)
    seed, good = report.chosen_seed(given.seed), True
    document: dict[str, Any] = {"seed": seed}
    for engine in report.chosen_engines(given.engine):
        with stores(engine, durable=False) as made, acting_as(LOCAL):
            for part in ("planted", *(["real"] if given.data else []), *(["growth"] if given.sizes else [])):
                db = open_database(made.fresh())
                here = reviewing.build(db, local.small() if given.embedder == "local" else None)
                chance = random.Random(seed)
                if part == "planted":
                    document[engine] = measure(here, project(chance))
                    good = good and kept(document[engine])
                elif part == "real":
                    document[engine]["real"] = real(here, given.data, given.shown)
                else:
                    document[engine]["growth"] = growth(here, chance, given.sizes)
                db.close()
    lines = [line for name, part in document.items() if name != "seed" for line in (name, *_lines(part))]
    text = "\n".join([f"seed {seed}", *lines])
    return report.conclude("review of memories", document, text, kept=good, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
