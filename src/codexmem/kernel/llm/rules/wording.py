"""The sentences of the rules, in English and Chinese: one table, so that both say the same things."""

from codexmem.kernel.llm.language import Language
from codexmem.kernel.model import quoting

# ruff: noqa: RUF001

_TABLE: dict[str, tuple[str, str]] = {
    # Looking
    "read.one": ("Read {path}", "阅读 {path}"),
    "read.two": ("Read {path} and {other}", "阅读 {path} 与 {other}"),
    "read.many": ("Read {count} files", "阅读 {count} 个文件"),
    "read.many_in": ("Read {count} files in {folder}", "阅读 {folder} 中的 {count} 个文件"),
    "searched": ("searched for {what}", "搜索 {what}"),
    "searched.title": ("Searched for {what}: {found}", "搜索 {what}：{found}"),
    "found.none": ("nothing found", "没有结果"),
    "found.many": ("{count} files", "{count} 个文件"),
    "found.fact": ("{what} occurs in {paths}.", "{what} 见于 {paths}。"),
    "found.none_fact": ("{what} was not found.", "未找到 {what}。"),
    "read.fact": ("{path} defines {names}.", "{path} 定义了 {names}。"),
    "read.headings": ("{path} covers {names}.", "{path} 包含 {names} 等章节。"),
    "and": (" and ", "，并"),
    # Changing
    "edited": ("Edited {path}", "编辑 {path}"),
    "created": ("Created {path}", "创建 {path}"),
    "rewrote": ("Wrote {path}", "写入 {path}"),
    "deleted": ("Deleted {path}", "删除 {path}"),
    "moved": ("Moved {path} to {to}", "将 {path} 移至 {to}"),
    "changed.many": ("Changed {count} files", "修改 {count} 个文件"),
    "changed.many_in": ("Changed {count} files in {folder}", "修改 {folder} 中的 {count} 个文件"),
    "detail": ("{what}: {detail}", "{what}：{detail}"),
    "added": ("added {names}", "新增 {names}"),
    "removed": ("removed {names}", "移除 {names}"),
    "renamed": ("renamed {old} to {new}", "将 {old} 改名为 {new}"),
    "in": ("in {name}: {detail}", "{name} 中：{detail}"),
    "lines": ("+{plus} −{minus} lines", "+{plus} −{minus} 行"),
    "lines.new": ("{count} lines", "{count} 行"),
    "changed.fact": ("{path}: {detail}.", "{path}：{detail}。"),
    # Testing
    "test.passed": ("{runner} passed: {count} tests", "{runner} 通过：{count} 项测试"),
    "test.passed_bare": ("{runner} passed", "{runner} 通过"),
    "test.unknown": ("{runner} ran, result unknown", "{runner} 已运行，结果未知"),
    "test.unknown_count": (
        "{runner} ran, result unknown (it printed {count} passed)",
        "{runner} 已运行，结果未知（输出为 {count} 项通过）",
    ),
    "test.failed": ("{runner} failed: {failed} of {count}", "{runner} 失败：{count} 项中有 {failed} 项"),
    "test.failed_bare": ("{runner} failed", "{runner} 失败"),
    "test.name": ("{what} — {name}", "{what} — {name}"),
    "test.failing_fact": ("Failing: {names}.", "失败项：{names}。"),
    "test.skipped_fact": ("{count} tests were skipped.", "跳过 {count} 项测试。"),
    "test.after": ("Afterwards {what}.", "之后 {what}。"),
    "test.before": ("Before, {what}.", "此前 {what}。"),
    "error.fact": ("Error: {error}.", "错误：{error}。"),
    # Running
    "committed": ("Committed: {subject}", "提交：{subject}"),
    "committed.unnamed": ("Committed with {command}", "用 {command} 提交"),
    "commit.fact": ("Commit {hash} on {branch}.", "提交 {hash}，分支 {branch}。"),
    "pushed": ("Pushed to {where}", "推送到 {where}"),
    "branched": ("Created branch {name}", "新建分支 {name}"),
    "merged": ("Merged {name}", "合并 {name}"),
    "rebased": ("Rebased onto {name}", "变基到 {name}"),
    "tagged": ("Tagged {name}", "打标签 {name}"),
    "installed": ("Installed {names} with {tool}", "用 {tool} 安装 {names}"),
    "uninstalled": ("Removed {names} with {tool}", "用 {tool} 卸载 {names}"),
    "installed.all": ("Installed the project's dependencies with {tool}", "用 {tool} 安装项目依赖"),
    "failed": ("{command} failed", "{command} 失败"),
    "failed.code": ("{command} failed (exit {code})", "{command} 失败（退出码 {code}）"),
    "declined": ("{what} was not allowed", "{what} 未获允许"),
    "ran": ("Ran {command}", "运行 {command}"),
    "ran.many": ("Ran {count} commands: {commands}", "运行 {count} 条命令：{commands}"),
    "ran.fact": ("{command} answered: {said}", "{command} 输出：{said}"),
    "succeeded.after": ("Afterwards {command} succeeded.", "之后 {command} 成功。"),
    # The rest
    "fetched": ("Fetched {url}", "获取 {url}"),
    "fetched.for": ("It was asked: {question}", "目的：{question}"),
    "web_searched": ("Searched the web for {what}", "网上搜索 {what}"),
    "agent": ("Sub-agent: {what}", "子代理：{what}"),
    "agent.bare": ("A sub-agent reported", "子代理汇报"),
    "called": ("Called {tool}", "调用 {tool}"),
    "called.with": ("Called {tool} ({what})", "调用 {tool}（{what}）"),
    "edit.of": ("Edit of {path}", "编辑 {path}"),
    "read.of": ("Reading {path}", "阅读 {path}"),
    "write.of": ("Writing {path}", "写入 {path}"),
    "call.failed": ("{what} failed", "{what} 失败"),
    "said": ("It answered: {said}", "返回：{said}"),
    "quoted": ("“{text}”", "“{text}”"),
    "list": (", ", "、"),
    "more": ("{names} and {count} more", "{names} 等共 {total} 个"),
    "asked": ("Request: {request}", "请求：{request}"),
    # Summary
    "summary.read": ("Read {paths}", "阅读了 {paths}"),
    "summary.end": (".", "。"),
    "kind.function": ("function {name}", "函数 {name}"),
    "kind.class": ("class {name}", "类 {name}"),
    "kind.type": ("type {name}", "类型 {name}"),
    "kind.section": ("section “{name}”", "章节“{name}”"),
}


class Wording:
    """The table in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._column = 1 if language == "zh" else 0

    def say(self, key: str, **values: object) -> str:
        """A sentence or a part of one."""
        return _TABLE[key][self._column].format(**values)

    def several(self, names: list[str], limit: int = 4) -> str:
        """Names one after another; of many, the first and how many there are."""
        shown = self.say("list").join(names[:limit])
        if len(names) <= limit:
            return shown
        return self.say("more", names=shown, count=len(names) - limit, total=len(names))

    def quoted(self, text: str) -> str:
        """What somebody typed, or a tool printed: between marks that it does not contain."""
        return self.say("quoted", text=quoting.without_marks(text))


def table() -> dict[str, tuple[str, str]]:
    """All of it, to compare the two languages."""
    return dict(_TABLE)
