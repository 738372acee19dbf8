"""Who writes memories from what is captured, and where the text goes: decided here and told in these words everywhere.

Rules on this machine always write what happened. Whether somebody else says what it means, and who, is a person's
decision: a key that lies in the environment for another purpose is none. Whoever looks at a command or begins a session
can see what was decided.
"""

# ruff: noqa: RUF001

from dataclasses import dataclass
from urllib.parse import urlsplit

OPENAI_BASE_URL = "https://api.openai.com/v1"
MODEL, RULES = "openai", "rules"  # as `CODEXMEM_PROVIDER` spells them
ANY_AGENT = "agent"  # the first agent that is installed
# The person's own agents, as people type them and as they are called.
AGENTS = {
    ANY_AGENT: "agent", "codex": "Codex", "claude": "Claude Code", "qwen": "Qwen Code", "gemini": "Gemini CLI",
    "opencode": "OpenCode",
}  # fmt: skip
SAMPLING = "sampling"  # the model of whichever agent is connected over MCP
_SAMPLED = "MCP sampling"
PROVIDERS = (MODEL, RULES, *AGENTS, SAMPLING)
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})

_TEXTS = {
    "en": {
        "chosen": "memories are written by rules on this machine; nothing leaves it",
        "no_key": "memories are written by rules on this machine; nothing leaves it (for their meaning "
                  "as well: codexmem writer)",
        "undecided": "memories are written by rules on this machine; nothing leaves it (there is an OPENAI_API_KEY; to "
                     "use it: codexmem writer openai)",
        "agent": "memories are written by your {model} login: what agents do here is sent where {model} sends what you "
                 "type, with secrets masked",
        "sampling": "memories are written by the model of the agent that is connected over MCP ({model}): what agents "
                    "do here is sent where that agent sends what you type, with secrets masked",
        "here": "memories are written by the model {model} at {host}, on this machine; nothing leaves it",
        "away": "memories are written by the model {model}: what agents do here is sent to {host}, with secrets masked",
        "failing": "the model {model} at {host} fails ({problem}): rules write the memories until that is fixed",
        "agent_failing": "{model} does not write memories ({problem}): rules alone do until that is fixed",
    },
    "zh": {
        "chosen": "记忆由本机上的规则写成，内容不会离开本机",
        "no_key": "记忆由本机上的规则写成，内容不会离开本机（如还要写明含义：codexmem writer）",
        "undecided": "记忆由本机上的规则写成，内容不会离开本机（环境中有 OPENAI_API_KEY；"
                     "如要使用：codexmem writer openai）",
        "agent": "记忆由您的 {model} 登录写成：代理在此所做的内容会发送到 {model} 平时发送您输入内容的地方，"
                 "其中的机密已遮盖",
        "sampling": "记忆由通过 MCP 连接的代理的模型写成（{model}）：代理在此所做的内容会发送到"
                    "该代理平时发送您输入内容的地方，其中的机密已遮盖",
        "here": "记忆由本机 {host} 上的模型 {model} 写成，内容不会离开本机",
        "away": "记忆由模型 {model} 写成：代理在此所做的内容会发送到 {host}，其中的机密已遮盖",
        "failing": "{host} 上的模型 {model} 无法使用（{problem}）：修复之前由规则写成记忆",
        "agent_failing": "{model} 无法写记忆（{problem}）：修复之前只由规则写成",
    },
}  # fmt: skip
# What is wrong with a model, by the class of the error, and what helps.
_SAMPLING_TROUBLES = {
    "en": {
        "setup_required": "no connected agent offers sampling; start one that does, or choose another writer: "
                          "codexmem writer rules",
        "": "connected agents keep refusing or failing; codexmem logs and the viewer's failures say more",
    },
    "zh": {
        "setup_required": "没有提供 sampling 的代理连接着；请启动一个，或选择别的撰写者：codexmem writer rules",
        "": "所连接的代理一再拒绝或失败；详见 codexmem logs 和查看页的失败列表",
    },
}  # fmt: skip
_AGENT_TROUBLES = {
    "en": {
        "auth_invalid": "it is not logged in; run it and log in",
        "quota_exhausted": "its quota is used up; wait, or choose another writer: codexmem writer rules",
        "setup_required": "its program is not found by the server, or is too old; codexmem doctor says more",
        "": "it keeps failing; codexmem logs and the viewer's failures say more",
    },
    "zh": {
        "auth_invalid": "尚未登录；请运行它并登录",
        "quota_exhausted": "额度已用完；请等待，或选择别的撰写者：codexmem writer rules",
        "setup_required": "服务器找不到它的程序，或版本过旧；详见 codexmem doctor",
        "": "一再失败；详见 codexmem logs 和查看页的失败列表",
    },
}  # fmt: skip
_TROUBLES = {
    "en": {
        "auth_invalid": "it refuses the key; check CODEXMEM_OPENAI_API_KEY or OPENAI_API_KEY",
        "quota_exhausted": "its quota is used up; top up the account or set CODEXMEM_PROVIDER=rules",
        "setup_required": "address or model is wrong; check CODEXMEM_OPENAI_BASE_URL and CODEXMEM_OPENAI_MODEL",
        "": "it keeps failing; codexmem logs and the viewer's failures say more",
    },
    "zh": {
        "auth_invalid": "密钥被拒绝；请检查 CODEXMEM_OPENAI_API_KEY 或 OPENAI_API_KEY",
        "quota_exhausted": "额度已用完；请充值，或设置 CODEXMEM_PROVIDER=rules",
        "setup_required": "地址或模型有误；请检查 CODEXMEM_OPENAI_BASE_URL 和 CODEXMEM_OPENAI_MODEL",
        "": "一再失败；详见 codexmem logs 和查看页的失败列表",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemoryWriter:
    """Who writes memories."""

    provider: str  # that works, which need not be the one that is set
    model: str = ""
    host: str = ""
    chosen: bool = True  # whether somebody asked for it
    undecided: bool = False  # whether there is a key that nobody has said may be used

    @property
    def is_agent(self) -> bool:
        """Whether it is the person's own agent."""
        return self.provider in AGENTS

    @property
    def sends(self) -> bool:
        """Whether captured text leaves this machine, as far as we can tell."""
        return self.is_agent or self.provider == SAMPLING or (self.provider == MODEL and self.host not in _HERE)

    def described(self, language: str = "en") -> str:
        """Who writes and where the text goes, in one line."""
        if self.provider == MODEL:
            key = "away" if self.sends else "here"
        elif self.is_agent or self.provider == SAMPLING:
            key = "agent" if self.is_agent else SAMPLING
        else:
            key = "undecided" if self.undecided else "chosen" if self.chosen else "no_key"
        return _TEXTS[language][key].format(model=self.model, host=self.host)

    def failing(self, error_class: str, language: str = "en") -> str:
        """That the model does not do it, why, and what helps, in one line."""
        problem = self.trouble(error_class, language)
        key = "failing" if self.provider == MODEL else "agent_failing"
        return _TEXTS[language][key].format(model=self.model, host=self.host, problem=problem)

    def trouble(self, error_class: str, language: str = "en") -> str:
        """What is wrong with it and what helps."""
        troubles = _AGENT_TROUBLES if self.is_agent else _SAMPLING_TROUBLES if self.provider == SAMPLING else _TROUBLES
        said = troubles[language]
        return said.get(error_class, said[""])


def writer_of(provider: str, *, model: str, base_url: str, api_key: str, decided: bool = True) -> MemoryWriter:
    """Who writes, by these settings; `decided`: whether a person named any of them for this purpose."""
    if provider in AGENTS:
        return MemoryWriter(provider, AGENTS[provider])
    if provider == SAMPLING:
        return MemoryWriter(SAMPLING, _SAMPLED)
    if provider == RULES or not (api_key or base_url):
        return MemoryWriter(RULES, chosen=provider == RULES)
    if not decided:
        return MemoryWriter(RULES, chosen=False, undecided=True)
    return MemoryWriter(MODEL, model, urlsplit(base_url or OPENAI_BASE_URL).hostname or "?")
