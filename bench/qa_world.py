"""A made-up company whose people ask the same things again and again: topics, what was written about each, and who is
right.

A topic is one aspect of one part of a system, in English or Chinese. Several items compete for it: some say the right
thing, some half of it, some what was right once, some what never was. How well an item's question happens to fit the
wording of a query says nothing about which of these it is; its author's confidence says a little. Some topics change
while people ask: their answer becomes outdated, and another one, which was there already, is right from then on.

How people behave (`Habits`) is drawn from the seed too, from wide ranges, so that constants cannot be fitted to one
crowd. What is printed was measured on seeds that nothing was chosen by; `bench/qa_loop.py` says which.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

TOPICS = 60
_PARTS = {
    "en": (
        "payment gateway",
        "search index",
        "login service",
        "mail relay",
        "image resizer",
        "audit trail",
        "job scheduler",
        "report exporter",
        "cache layer",
        "billing worker",
        "webhook sender",
        "feature flags",
    ),
    "zh": (
        "支付网关",
        "搜索索引",
        "登录服务",
        "邮件中继",
        "图片压缩",
        "审计日志",
        "任务调度器",
        "报表导出",
        "缓存层",
        "计费任务",
        "回调发送",
        "功能开关",
    ),
}
_ASPECTS = {
    "en": (
        "timeout",
        "listening port",
        "retry limit",
        "backup schedule",
        "log level",
        "memory limit",
        "access key",
        "health check",
        "batch size",
        "connection pool",
    ),
    "zh": (
        "超时时间",
        "监听端口",
        "重试次数",
        "备份计划",
        "日志级别",
        "内存上限",
        "访问密钥",
        "健康检查",
        "批量大小",
        "连接池",
    ),
}
_TITLES = {
    "en": (
        "How do I change the {aspect} of the {part}?",
        "Where is the {aspect} for the {part} configured?",
        "What controls the {part} {aspect} in production?",
        "{part}: which {aspect} applies, and where is it set?",
        "The {aspect} of our {part} is wrong, what should be edited?",
        "Steps to adjust {aspect} on the {part} without downtime",
    ),
    "zh": (
        "怎么修改{part}的{aspect}？",
        "{part}的{aspect}在哪里配置？",
        "生产环境里{part}的{aspect}由什么决定？",
        "{part}：{aspect}是多少，在哪里设置？",
        "我们{part}的{aspect}不对，应该改哪里？",
        "不停机调整{part}{aspect}的步骤",
    ),
}
_QUERIES = {
    "en": (
        "{aspect} of the {part} must be changed",
        "where can I set the {part} {aspect}",
        "{part} {aspect}",
        "somebody asked me to fix the {aspect} on the {part} today",
        "need to configure {aspect}, {part}",
        "which file has the {aspect} for our {part}",
    ),
    "zh": (
        "要改一下{part}的{aspect}",
        "{part}{aspect}在哪设置",
        "{part} {aspect}",
        "有人让我今天修好{part}的{aspect}",
        "需要配置{aspect}，{part}",
        "哪个文件里有{part}的{aspect}",
    ),
}
_ANSWERS = {
    "en": (
        "Set {name} = {value} in {file}, then reload {place}.",
        "Run `{place} --{name} {value}` and commit {file}.",
        "Edit {file}: the entry {name} has to be {value}; {place} picks it up after a restart.",
        "Ask {place} for a change of {name} to {value}; {file} is generated from it.",
        "Export {name}={value} before {place} starts. {file} is no longer read.",
        "Open {place}, look for {name}, enter {value} and wait until {file} was written.",
    ),
    "zh": (
        "在 {file} 里设置 {name} = {value}，然后重新加载 {place}。",
        "执行 `{place} --{name} {value}`，再提交 {file}。",
        "编辑 {file}：{name} 这一项必须是 {value}，重启 {place} 后生效。",
        "请 {place} 把 {name} 改成 {value}，{file} 由它生成。",
        "在 {place} 启动之前导出 {name}={value}，{file} 已经不再读取。",
        "打开 {place}，找到 {name}，填入 {value}，等待 {file} 写完。",
    ),
}
_NAMES = (
    "MAX_WAIT",
    "bind_addr",
    "attempts",
    "cron_line",
    "verbosity",
    "heap_mb",
    "signing_key",
    "probe_path",
    "chunk",
    "pool_slots",
    "grace_s",
    "burst",
)
_FILES = (
    "deploy/values.yaml",
    "config/app.toml",
    "ops/env.prod",
    "infra/main.tf",
    "helm/chart.yaml",
    "etc/service.ini",
    "settings/base.json",
    "scripts/rollout.sh",
)
_PLACES = (
    "admin-console",
    "opsctl",
    "the-dashboard",
    "fleetd",
    "terraform",
    "supervisor",
    "confd",
    "the-portal",
)


class Grade(IntEnum):
    """How much an item helps with its own topic; with any other it does not."""

    NONE = 0
    HALF = 1
    RIGHT = 3

    @property
    def chance(self) -> float:
        """How often it turns out to be right for who tries it."""
        return {Grade.NONE: 0.0, Grade.HALF: 0.5, Grade.RIGHT: 1.0}[self]


@dataclass(frozen=True, slots=True)
class Item:
    """Something that was written down."""

    topic: int
    question: str
    answer: str
    claimed: float  # its author's confidence
    approved: bool  # a person vouched for it before the first question
    before: Grade  # until its topic changes
    after: Grade  # from then on


@dataclass(frozen=True, slots=True)
class Habits:
    """How people behave."""

    attention: float  # the chance that one looks at the next item of the list, having looked at the one before
    takes: float  # the chance that one relies on an item that looks right
    stops: float  # the chance that one looks no further then
    tries: float  # the chance that what was relied upon is tried and the outcome reported
    strong: float  # the share of reports that a person gives on purpose; the others are some test that passed


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the stream."""

    topic: int
    text: str


class World:
    """Everything that one seed decides about topics, items and people, but not what signals go wrong."""

    def __init__(self, seed: int, *, topics: int = TOPICS) -> None:
        chance = random.Random(f"world {seed}")
        self._chance = random.Random(f"questions {seed}")
        names = [(tongue, part, aspect) for tongue in _PARTS for part in _PARTS[tongue] for aspect in _ASPECTS[tongue]]
        self.topics = chance.sample(names, topics)
        self.habits = Habits(
            attention=chance.uniform(0.7, 1.0),
            takes=chance.uniform(0.6, 0.95),
            stops=chance.uniform(0.3, 0.9),
            tries=chance.uniform(0.15, 0.5),
            strong=chance.uniform(0.1, 0.5),
        )
        self._changes = {topic: chance.uniform(0.2, 0.8) for topic in range(topics) if chance.random() < 0.2}
        self.items: list[Item] = []
        for topic in range(topics):
            self.items.extend(self._written(chance, topic))
        # A few topics are asked for all the time and many now and then.
        self._often = [1.0 / (rank + 3) for rank in range(topics)]

    def grade(self, item: Item, topic: int, gone: float) -> Grade:
        """How much the item helps with this topic, when this share of the stream is over."""
        if item.topic != topic:
            return Grade.NONE
        return item.after if gone >= self._changes.get(topic, 1.0) else item.before

    def ideal(self, topic: int, gone: float) -> list[Grade]:
        """The grades of everything about the topic, best first."""
        found = [self.grade(item, topic, gone) for item in self.items if item.topic == topic]
        return sorted(found, reverse=True)

    def ask(self) -> Asked:
        """The next question."""
        (topic,) = self._chance.choices(range(len(self.topics)), weights=self._often)
        tongue, part, aspect = self.topics[topic]
        return Asked(topic, self._chance.choice(_QUERIES[tongue]).format(part=part, aspect=aspect))

    def _written(self, chance: random.Random, topic: int) -> list[Item]:
        tongue, part, aspect = self.topics[topic]
        changes = topic in self._changes
        # (grade before, grade after): right for good, half right, right once, right from the change on, never right
        kinds = [(Grade.RIGHT, Grade.NONE if changes else Grade.RIGHT), (Grade.HALF, Grade.HALF)]
        kinds += [(Grade.NONE, Grade.RIGHT if changes else Grade.NONE)]
        kinds += [(Grade.NONE, Grade.NONE)] * chance.randint(2, 4)
        stale = len(kinds) - 1  # one that was right before the stream began; a person may have vouched for it then
        titles = chance.sample(_TITLES[tongue], len(_TITLES[tongue]))
        answers = chance.sample(_ANSWERS[tongue], len(_ANSWERS[tongue]))
        items = []
        for number, (before, after) in enumerate(kinds):
            good = before is not Grade.NONE
            # Every fourth asks what was asked already and answers it in the same words with other values.
            place = 0 if chance.random() < 1 / 4 else number
            answer = answers[place % len(answers)].format(
                name=chance.choice(_NAMES), value=chance.randint(1, 9_999), file=chance.choice(_FILES),
                place=chance.choice(_PLACES),
            )  # fmt: skip
            question = titles[place % len(titles)].format(part=part, aspect=aspect)
            claimed = min(1.0, max(0.0, chance.gauss(0.55 if good else 0.5, 0.15)))
            approved = chance.random() < (0.25 if good or number == stale else 0.0)
            items.append(Item(topic, question, answer, round(claimed, 2), approved, before, after))
        chance.shuffle(items)
        return items


def judged(grades: Sequence[Grade], ideal: Sequence[Grade], cut: int) -> float:
    """NDCG of a list of grades against the best order of all there is, with 2^grade - 1 as the gain."""
    best = _gain(ideal[:cut])
    return _gain(grades[:cut]) / best if best else 0.0


def _gain(grades: Sequence[Grade]) -> float:
    return math.fsum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))
