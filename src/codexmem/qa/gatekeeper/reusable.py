"""Whether a question and its answer hold for others, later and elsewhere.

Each sign that they do not has a weight: a sure one (a process id, “last night”, a person's telephone number) refuses
alone, a mere hint (a weekday, a ticket) only together with another. Patterns are bounded and looked for in a bounded
text, so that the time is linear.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import re
from typing import NamedTuple

from codexmem.kernel.model import pii

_SURE, _HINT = 2, 1
_SHOWN = 60  # characters of what was found
_USUAL_PORTS = frozenset((
    1433, 1521, 1883, 2049, 2181, 2375, 2376, 2379, 3000, 3001, 3306, 3389, 4000, 4173, 4200, 4317, 4318, 5000, 5001,
    5173, 5432, 5601, 5672, 6006, 6379, 6443, 7474, 7860, 8000, 8001, 8080, 8081, 8086, 8088, 8123, 8200, 8443, 8500,
    8787, 8888, 9000, 9001, 9042, 9090, 9092, 9093, 9100, 9200, 9229, 9418, 9443, 11211, 11434, 15672, 16686, 19530,
    27017, 37877, 50051, 50070,
))  # fmt: skip
_NO_TICKET = frozenset((
    "UTF", "ISO", "RFC", "CVE", "SHA", "AES", "MD", "PEP", "IEEE", "HTTP", "TLS", "SSL", "GPT", "RSA", "BASE", "ES",
    "ECMA", "WCAG", "GHSA", "CWE", "OWASP", "CRC", "UTC", "GMT", "JDK", "JSR", "HS", "RS", "PS", "ED", "FTS", "BM",
    "EC", "LTS", "API", "PKCS", "FIPS", "NIST", "DIN", "EN", "BSD", "MPL", "GPL", "LGPL", "AGPL", "APACHE", "CC",
))  # fmt: skip


class OneTimeMark(NamedTuple):
    """Something that holds only once."""

    kind: str  # once, report, status, machine, person or ticket
    weight: int
    found: str


# kind, weight in a question, weight in an answer, what it looks like
_WORDING: tuple[tuple[str, int, int, re.Pattern[str]], ...] = (
    # moments
    ("once", _SURE, _SURE, re.compile(
        r"\b(?:yesterday|tonight|last night|this (?:morning|afternoon|evening|week|sprint|month)|just now|earlier today"
        r"|(?:a|an|one|two|\d{1,3}) (?:minutes?|hours?|days?) ago|later today|next (?:monday|tuesday|wednesday|thursday"
        r"|friday|week|sprint))\b", re.IGNORECASE)),
    ("once", _SURE, _HINT, re.compile(
        r"\b(?:today|tomorrow|right now|at the moment|currently|so far|as of (?:now|today)|in (?:about )?\d{1,3} "
        r"(?:minutes|hours|days))\b", re.IGNORECASE)),
    ("once", _HINT, _HINT, re.compile(
        r"\b(?:on|by|until|before|since|next|last|due) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(?:Mon|Tues|Wednes|Thurs|Fri)day's\b", re.IGNORECASE)),
    ("once", _SURE, _SURE, re.compile(
        r"\b(?:at|since|from|until|started|restarted|around|about|by) (?:about )?(?:[01]?\d|2[0-3]):[0-5]\d\b(?!:\d)"
        r"|\b(?:1[0-2]|[1-9])(?::[0-5]\d)? ?(?:am|pm|a\.m\.|p\.m\.)(?![a-z])", re.IGNORECASE)),
    ("once", _HINT, _HINT, re.compile(
        r"\b20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b"
        r"|\b(?:[12]?\d|3[01])(?:st|nd|rd|th)? (?:January|February|March|April|May|June|July|August|September"
        r"|October|November|December)\b|\b(?:January|February|March|April|June|July|August|September|October|November"
        r"|December) (?:[12]?\d|3[01])(?:st|nd|rd|th)?\b|\d{1,2} ?月 ?\d{1,2} ?[日号]")),
    ("once", _SURE, _SURE, re.compile(
        r"刚才|刚刚|昨天|昨晚|昨日|前天|今早|今晚|今天[上下]午|今天早上|本周|这周|上周|下周[一二三四五六日]|后天|本次迭代"
        r"|(?:上午|下午|晚上|凌晨)[零一二三四五六七八九十\d]{1,3}[点时:：]"
        r"|[\d一二两三几]{1,3} ?(?:分钟|小时|天)(?:前|以前)")),
    ("once", _SURE, _HINT, re.compile(
        r"今天|今日|明天|明日|下周|(?:我|你|服务|它)[^，。？]{0,6}现在|现在(?:在|是不是|怎么样|运行|跑)|目前|此刻|眼下|当前(?:进度|状态)")),
    ("once", _HINT, _HINT, re.compile(
        r"(?<!每)(?:周|星期|礼拜)[一二三四五六日天](?!个)|(?<![\d:：])(?:[01]?\d|2[0-3])[:：][0-5]\d(?![:：\d])")),
    # what was done, and how things stand
    ("report", 0, _SURE, re.compile(
        r"\bI(?:'ve| have)?(?: also| just| now| already| then)? (?:fixed|added|changed|renamed|removed|updated|created"
        r"|committed|pushed|ran|started|restarted|stopped|deleted|moved|implemented|replaced|reverted|rewrote|bumped|merged"
        r"|opened|edited|refactored|installed|looked at|checked|cleaned|deployed|verified|left)\b")),
    ("report", 0, _SURE, re.compile(
        r"\A(?:done|fixed|reverted|renamed|added|updated|committed|pushed|merged|deployed|finished|implemented|removed)\b"
        r"[ .:,!]", re.IGNORECASE)),
    ("report", 0, _SURE, re.compile(
        r"\ball (?:the )?(?:\d[\d,]{0,6} )?(?:other \d[\d,]{0,6} )?tests (?:now )?pass(?:ed)?\b|\btests are green\b"
        r"|\b\d[\d,]{0,6} (?:commits? )?(?:ahead of|behind) [`']?origin\b|\bcommits? ahead of\b"
        r"|\b(?:is|are) (?:clean|green|running) (?:now|again)\b|\bnothing is pushed\b", re.IGNORECASE)),
    ("report", 0, _SURE, re.compile(
        r"我(?:已|刚|把|帮你|重新|顺便)|已经?(?:帮你|为你)"
        r"|已经?(?:改成|修改|清理|重启|添加|删除|更新|修复|提交|推送|发布|部署|恢复|合并|上线)(?!且|的|过|后|时|或|但|和|、)"
        r"|(?:改|修|弄|处理|搞)好了|修改了 ?\d|\A(?:已完成|完成了|搞定)|测试[，,]?(?:已)?全部通过|提交号")),
    ("report", _HINT, 0, re.compile(
        r"\A(?:please |can you |could you )?(?:fix|add|rename|revert|remove|implement|update|refactor|bump|merge"
        r"|commit|push|delete|create|write|change|move|replace|install|run|apply|clean up|convert|upgrade|deploy|check"
        r"|review)\b", re.IGNORECASE)),
    ("report", _HINT, 0, re.compile(
        r"\A(?:请|麻烦|帮我|帮忙)?(?:帮我|帮忙)?(?:把|将|改|修改|修复|修一下|添加|加上|删除|删掉|重命名|提交|推送|回滚|写一|运行|跑一|部署|升级|实现|看看|检查一下)")),
    ("status", _SURE, 0, re.compile(
        r"\A(?:did|is|are|was|were|has|have) (?:the|my|our|it|we|you|that|this|everything)\b[^?\n]{0,80}"
        r"\b(?:pass|passed|done|finished|running|ready|merged|deployed|clean|green|up|down|fail|failed)\b"
        r"|\bwhat did (?:we|you|i)\b|\bwhat have (?:we|you)\b|\bwhere is [^?\n]{0,40} running\b"
        r"|\bwhich (?:branch|port|commit|version) (?:am i|are we|did you|do i)\b|\bam i on\b|\bwho is on call\b"
        r"|\b(?:is|are) left to do\b|\bbefore we can (?:merge|release|ship)\b|\bdo you (?:prefer|think|suggest)\b"
        r"|\bhow much time is left\b|\bstill (?:open|left) for me\b|\bhow is the [^?\n]{0,60}(?:task|going|doing)\b",
        re.IGNORECASE)),
    ("status", _SURE, 0, re.compile(
        r"进度|怎么样了|结果怎么样|完成了吗|好了吗|跑在|在哪个端口|谁负责|谁在|面试|安排|到哪了|还剩|改了(?:什么|哪些)|做了什么")),
    ("status", _HINT, _HINT, re.compile(
        r"\bmy (?:laptop|machine|computer|disk|home directory|branch|account|desktop|sprint|calendar)\b"
        r"|\byour (?:laptop|machine|computer|disk|branch|home directory)\b", re.IGNORECASE)),
    ("status", _HINT, _HINT, re.compile(
        r"(?:我|你)的?(?:本地|电脑|机器|笔记本|分支)|预计|由产品|等产品|提测|待处理|待确认")),
    # machines
    ("machine", _SURE, _SURE, re.compile(
        r"\b(?:PID|pid|process(?: id)?|进程号?)[ :=：#]{1,2}\d{3,7}\b|\bkill (?:-\w{1,6} )?\d{3,7}\b")),
    ("machine", _SURE, _SURE, re.compile(
        r"/var/folders/\w|/tmp/[\w.-]{0,40}\d[\w.-]{0,40}|/private/var/\w|\\AppData\\Local\\Temp\\\w")),
    ("machine", _SURE, _SURE, re.compile(
        r"\b[a-z][a-z0-9]{0,15}(?:-[a-z][a-z0-9]{0,15}){0,3}-0\d\b"
        r"|\b[a-z0-9][a-z0-9-]{0,40}(?:\.[a-z0-9][a-z0-9-]{0,40}){0,3}\.(?:internal|lan|corp|intra|intranet|localdomain)\b"
        r"(?!\.)")),
    ("machine", _HINT, _HINT, re.compile(
        r"\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b(?!/\d)")),
    # people
    ("person", _SURE, _SURE, re.compile(
        r"\b(?:Mr|Mrs|Ms|Dr)\. [A-Z][a-z]+|\b(?:salary|home address|date of birth|passport|his phone|her phone)\b"
        r"|薪资|工资|薪水|身份证|家庭住址|手机(?:号)?(?:是|：|:)|微信同号|工位|休假|请假|代班")),
    ("person", _HINT, _HINT, re.compile(
        r"\b(?:her|his) manager\b|\bthanks to [A-Z][a-z]+"
        r"|\b[A-Z][a-z]+ (?:still has to|is away|will (?:review|approve))\b"
        r"|\b[A-Z][a-z]{2,}'s (?:import|job|branch|change|commit|machine|laptop|review)\b"
        r"|\btell [A-Z][a-z]{2,}\b|\b(?:the|their|our) (?:customer|client)'?s?\b|客户|\bthe meeting\b"
        r"|由[小老]?[王李张刘陈杨黄赵周吴徐孙朱马胡郭林何梁郑罗宋谢唐韩曹许邓冯][^\s，。、]{0,2}(?:负责|跟进|处理|代|把)")),
    # changes, places and tickets
    ("ticket", _SURE, _SURE, re.compile(
        r"\b(?:line|lines|row) \d[\d,]{1,8}\b(?! (?:characters|columns))|第 ?\d{1,6} ?行", re.IGNORECASE)),
    ("ticket", _SURE, _SURE, re.compile(
        r"\b[0-9a-f]{40}\b|(?:commit|revert|cherry-pick|提交号?|created|HEAD)[ :：是`(]{1,6}(?:is )?"
        r"(?=[a-f]{0,11}\d)(?=\d{0,11}[a-f])[0-9a-f]{7,12}\b", re.IGNORECASE)),
    ("ticket", _HINT, _HINT, re.compile(
        r"\b(?:PR|MR|pull request|merge request|issue|build|pipeline|run) ?(?:#|no\. ?|!)?\d{2,7}\b", re.IGNORECASE)),
)  # fmt: skip
_TICKET = re.compile(r"\b([A-Z]{2,10})-(\d{1,6})\b")
_PORT = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])[:：](\d{4,5})\b|\bport (\d{4,5})\b|端口[ 是为：:]{0,2}(\d{4,5})\b"
)
_MASK = re.compile(r"\[REDACTED:(email|phone|ip|user|card|id-number)\]")


def signs(question: str, answer: str) -> list[OneTimeMark]:
    """Everything that says that this holds only once, the surest first."""
    found = [*_worded(question, 0), *_worded(answer, 1)]
    whole = f"{question}\n{answer}"
    found += [*_people(whole), *_machines(whole), *_tickets(whole)]
    return sorted(found, key=lambda sign: -sign.weight)


def is_reusable(found: list[OneTimeMark]) -> bool:
    """Whether these signs, if any, are too few to refuse; the same words count once, wherever they stand."""
    return sum({(sign.kind, sign.found.lower()): sign.weight for sign in found}.values()) < _SURE


def _worded(text: str, place: int) -> list[OneTimeMark]:
    found = []
    for kind, *weights, pattern in _WORDING:
        weight = weights[place]
        assert isinstance(weight, int)
        match = pattern.search(text) if weight else None
        if match is not None:
            found.append(OneTimeMark(kind, weight, match.group().strip()[:_SHOWN]))
    return found


def _people(text: str) -> list[OneTimeMark]:
    found = [OneTimeMark("person", _SURE, text[begin:end]) for begin, end, _ in pii.emails(text)]
    found += [OneTimeMark("person", _SURE, match.group()) for match in _MASK.finditer(text)]
    for begin, end, kind in pii.strict(text):
        if kind in {"phone", "card", "id-number"}:
            found.append(OneTimeMark("person", _SURE, text[begin:end]))
        elif kind == "user":
            found.append(OneTimeMark("machine", _SURE, text[max(0, begin - 7) : end]))
    return found[:3]


def _machines(text: str) -> list[OneTimeMark]:
    """Ports that nobody else uses."""
    for match in _PORT.finditer(text):
        port = int(match[1] or match[2] or match[3])
        if port not in _USUAL_PORTS and port <= 65_535:
            return [OneTimeMark("machine", _SURE if port >= 32_768 else _HINT, match.group())]
    return []


def _tickets(text: str) -> list[OneTimeMark]:
    found = {match.group() for match in _TICKET.finditer(text) if match[1] not in _NO_TICKET}
    return [OneTimeMark("ticket", _HINT, each) for each in sorted(found)[:2]]
