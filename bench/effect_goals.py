"""What the measurements of delivery should come to, in the words of the page in both languages."""

# ruff: noqa: RUF001

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One figure with what it should be."""

    bench: str
    figure: str
    at_least: bool
    value: float
    english: str
    chinese: str
    whole: bool = False  # a number as it is; else a share

    def kept(self, measured: float) -> bool:
        """Whether the goal is reached."""
        return measured >= self.value if self.at_least else measured <= self.value

    def shown(self, measured: float) -> str:
        """A figure as the page tells it."""
        return f"{measured:,.0f}" if self.whole else f"{100 * measured:.1f} %"

    @property
    def wanted(self) -> str:
        """The goal as the page tells it."""
        number = f"{self.value:,.0f}" if self.whole else f"{100 * self.value:.0f} %"
        return f"{'≥' if self.at_least else '≤'} {number}"


GOALS = (
    Goal("delivery", "reached", True, 26, "deciding chats that reach the first request, of 27",
         "到达第一个请求的决策对话，共 27 个", whole=True),
    Goal("delivery", "turns", True, 0.85, "… share of the person's turns in them", "…… 其中用户发言的比例"),
    Goal("delivery", "prompt_tokens", False, 1_200, "… tokens told at the prompt, median",
         "…… 提示时给出的 token 中位数", whole=True),
    Goal("delivery", "amended_right", True, 6, "amended rules told first, the old one absent or marked, of 6",
         "先说修订后的规则、旧规则不出现或已标明，共 6 条", whole=True),
    Goal("delivery", "tool_tokens", False, 1_500, "tokens of the tool definitions by default",
         "默认工具定义的 token 数", whole=True),
    Goal("coding", "start_files", True, 0.92, "start context names the files that a session will edit (held-out)",
         "开始上下文说出会话将编辑的文件（留出）"),
    Goal("coding", "start_commands", True, 0.90, "… the commands that it will run", "…… 将运行的命令"),
    Goal("coding", "start_errors", True, 0.85, "… the errors that it will meet", "…… 将遇到的错误"),
    Goal("coding", "start_tokens", False, 1_400, "… tokens, mean", "…… token 平均数", whole=True),
    Goal("coding", "answer_10", True, 0.87, "answer in the first ten results", "答案在前十条结果中"),
    Goal("coding", "answer_10_held_out", True, 0.83, "… held-out", "…… 留出"),
    Goal("coding", "answer_2000", True, 0.80, "answer within 2,000 tokens of results", "答案在 2,000 token 的结果内"),
    Goal("coding", "answer_2000_held_out", True, 0.76, "… held-out", "…… 留出"),
    Goal("coding", "tool_2000", True, 0.80, "answer within 2,000 tokens of what the agents' search tool prints",
         "答案在代理的搜索工具所给的 2,000 token 内"),
    Goal("coding", "tool_2000_held_out", True, 0.76, "… held-out", "…… 留出"),
    Goal("coding", "answer_10_howto", True, 0.80, "… how-to questions, first ten", "…… 操作方法类，前十条"),
    Goal("coding", "answer_10_config", True, 0.90, "… questions about configuration, first ten", "…… 配置类，前十条"),
    Goal("coding", "answer_10_event", True, 0.65, "… answers that stand in tool events, first ten",
         "…… 答案在工具事件中，前十条"),
    Goal("coding", "new_first", True, 0.75, "new answer ahead of the superseded one", "新答案排在被取代的答案之前"),
    Goal("coding", "absent_strong", False, 0.05, "questions without an answer that get a strong result",
         "没有答案却得到强结果的问题"),
    Goal("coding", "calibration_error_held_out", False, 0.05,
         "how far scores are from the share of results with the answer, held-out",
         "分数与含有答案的结果比例的差距（留出）"),
    Goal("coding", "stored", True, 0.98, "answers still in the store after extraction", "提取之后仍在库中的答案"),
    Goal("coding", "variables", True, 0.90, "variables set on a command line, still in the store",
         "命令行上设置的变量，仍在库中"),
    Goal("noise", "unasked_foreign", False, 0.03, "unasked: prompts of other projects and trades given anything",
         "主动：其他项目和行业的提示得到内容"),
    Goal("noise", "unasked_kept", True, 0.85, "… right hits kept", "…… 保留的正确命中"),
    Goal("noise", "asked_foreign", False, 0.08, "asked: questions of other projects answered",
         "被问：其他项目的问题得到回答"),
    Goal("noise", "asked_kept", True, 0.93, "… right hits kept", "…… 保留的正确命中"),
    Goal("noise", "nonsense", False, 0.02, "nonsense and small talk given anything, worst interface",
         "胡言和闲聊得到内容，最差的接口"),
    Goal("noise", "unasked_refused", True, 0.70, "same trade, nothing stored: refused unasked",
         "同行业但库中没有：主动时拒绝"),
    Goal("noise", "asked_refused", True, 0.45, "… refused when asked", "…… 被问时拒绝"),
    Goal("noise", "qa_foreign", False, 0.05, "QA: strangers above the floor", "QA：高于门槛的陌生问题"),
    Goal("noise", "qa_first", True, 0.95, "… answerable ones whose answer comes first", "…… 可回答的，答案排第一"),
    Goal("month", "start", True, 8, "facts of a month told at the start, of 12", "一个月中的事实在开始时告知，共 12 条",
         whole=True),
    Goal("month", "start_or_prompt", True, 11, "… at the start or at the prompt that needs them",
         "…… 在开始时或需要它的提示时告知", whole=True),
    Goal("month", "strangers_given", False, 0, "… prompts of other trades given anything, of 6",
         "…… 其他行业的提示得到内容，共 6 条", whole=True),
)  # fmt: skip

# Names of parts, ends, interfaces and askers, as the Chinese page tells them.
CHINESE = {
    "Where rules end": "规则的去向", "Where answers end": "答案的去向", "Who is given something": "谁得到了内容",
    "one chat": "单个对话", "amended": "修订", "told": "告知", "not stored": "未存", "not found": "未找到",
    "not handed over": "未交付", "drowned": "淹没", "all": "全部", "dev": "调试", "held-out": "留出", "en": "英文",
    "zh": "中文", "user": "答案在用户提示中", "assistant": "答案在代理消息中", "event": "答案在工具事件中",
    "config": "配置", "decision": "决定", "error": "错误", "fact": "事实", "howto": "操作方法", "preference": "偏好",
    "superseded": "已被取代", "todo": "待办", "prompt context": "提示上下文", "HTTP search": "HTTP 搜索",
    "MCP search": "MCP 搜索", "QA search": "QA 搜索", "knowledge": "知识", "notes preload": "笔记预载",
    "all kinds": "全部种类的搜索", "command": "命令", "start context": "开始上下文",
    "other projects' prompts": "其他项目的提示",
    "other projects' questions": "其他项目的问题", "other trades": "其他行业", "small talk": "闲聊",
    "Where facts end": "事实的去向", "told at the start": "开始时告知", "told at the prompt": "提示时告知",
    "nonsense": "胡言", "same trade, not stored": "同行业，库中没有", "answerable": "可回答（给出正确答案）",
}  # fmt: skip
