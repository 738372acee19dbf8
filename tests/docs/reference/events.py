"""What may stand in the log, how long it stays, and the exit codes of the commands."""

from __future__ import annotations

from codexmem.console.output import EXIT_CODES, FAILURE, INTERRUPTED
from codexmem.kernel.model.event import RETENTION_MS, TRACED, EventType
from tests.docs.pages import Language
from tests.docs.reference.event_texts import EVENTS, LIVE
from tests.docs.reference.markdown import both, code, page, table

TITLE = both("Events", "事件")
EXITS_TITLE = both("Exit codes", "退出码")
_DAY_MS = 86_400_000
_ABOUT = both(
    "Everything that is written to the log. Events describe and jobs drive: losing an event loses a line of history, "
    "never a piece of work. How to read them live: [operations](../operations.md#watching-and-reports).",
    "写入日志的全部事件。事件负责描述，任务负责推动：丢失一个事件只是少一行历史，不会少做一件事。实时读取见[运维](../operations.zh.md#观察与报告)。",
)
_HEAD = {"en": ("event", "kept", "means"), "zh": ("事件", "保留", "含义")}
_DAYS = both("{} days", "{} 天")
_ALWAYS = both("until the store is removed", "直到删除整个库")
_RUN = both("as long as the run", "与运行同久")
_NEVER = both("not kept: live only", "不保留，仅实时")
_PARTS = (
    both("Memory, sessions, system", "记忆、会话、系统"),
    both("The trace of a run of the lab", "实验室一次运行的轨迹"),
)
_EXITS_ABOUT = both(
    "Of `codexmem` and `mem-codecli`. `mem-codecli run` ends with the agent's own code, or with 10 if it stopped the "
    "agent, `hook` always with 0, `mem-codecli policies check` with 0 (allow), 10 (deny) or 11 (ask).",
    "适用于 `codexmem` 与 `mem-codecli`。`mem-codecli run` 的退出码是智能体自己的，终止了智能体则为 10，`hook` 总是 0，"
    "`mem-codecli policies check` 为 0（允许）、10（拒绝）或 11（询问）。",
)
_EXIT_HEAD = {"en": ("exit", "means", "errors"), "zh": ("退出码", "含义", "错误")}
_EXITS = {
    0: both("done; also when nothing was found", "完成；没有找到任何内容也是如此"),
    FAILURE: both("failed; also when a check of `doctor` fails", "失败；`doctor` 有检查未通过时也是如此"),
    2: both("the command line, or what it asks, is wrong; or something final needs `--yes`",
            "命令行或所请求的内容有误；或不可撤销的操作需要 `--yes`"),
    3: both("not found", "未找到"),
    4: both("not allowed", "不允许"),
    5: both("conflict: the address is taken, the folder is not empty, the file exists",
            "冲突：地址已被占用、目录不为空、文件已存在"),
    6: both("the store or server does not answer", "库或服务器没有应答"),
    INTERRUPTED: both("interrupted", "被中断"),
}  # fmt: skip


def render(language: Language) -> str:
    """The page of events."""
    live = [[code(name), _NEVER[language], said[language]] for name, said in LIVE.items()]
    plain = live + [_event(language, each) for each in EventType if each not in TRACED]
    traced = [_event(language, each) for each in EventType if each in TRACED]
    parts = [_ABOUT[language]]
    for name, rows in zip(_PARTS, (plain, traced), strict=True):
        parts += [f"## {name[language]}", table(_HEAD[language], rows)]
    return page(language, TITLE, *parts)


def render_exits(language: Language) -> str:
    """The page of exit codes."""
    rows = []
    for number, said in _EXITS.items():
        errors = ", ".join(code(name) for name, exit_code in EXIT_CODES.items() if exit_code == number)
        rows.append([str(number), said[language], errors])
    missing = set(EXIT_CODES.values()) - _EXITS.keys()
    assert not missing, f"exit codes without a text: {missing}"
    return page(language, EXITS_TITLE, _EXITS_ABOUT[language], table(_EXIT_HEAD[language], rows))


def _event(language: Language, event: EventType) -> list[str]:
    kept_ms = RETENTION_MS[event]
    kept = _RUN if event in TRACED else _ALWAYS
    days = _DAYS[language].format(kept_ms // _DAY_MS) if kept_ms is not None else kept[language]
    return [code(event.value), days, EVENTS[event][language]]
