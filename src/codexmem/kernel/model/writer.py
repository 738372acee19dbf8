"""Who writes memories from what is captured, and where the text goes: decided here and told in these words everywhere.

A key in the environment is enough for a model to be asked, so whoever looks at a command or begins a session must be
able to see it. Without a key and without an address of one's own there is nobody to ask: rules on this machine answer.
"""

# ruff: noqa: RUF001

from dataclasses import dataclass
from urllib.parse import urlsplit

OPENAI_BASE_URL = "https://api.openai.com/v1"
MODEL, RULES = "openai", "rules"  # as `CODEXMEM_PROVIDER` spells them
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})

_TEXTS = {
    "en": {
        "chosen": "memories are written by rules on this machine; nothing leaves it",
        "no_key": "memories are written by rules on this machine; nothing leaves it (no model key is set)",
        "here": "memories are written by the model {model} at {host}, on this machine; nothing leaves it",
        "away": "memories are written by the model {model}: what agents do here is sent to {host}, with secrets masked",
        "failing": "the model {model} at {host} fails ({problem}): rules write the memories until that is fixed",
    },
    "zh": {
        "chosen": "记忆由本机上的规则写成，内容不会离开本机",
        "no_key": "记忆由本机上的规则写成，内容不会离开本机（没有设置模型密钥）",
        "here": "记忆由本机 {host} 上的模型 {model} 写成，内容不会离开本机",
        "away": "记忆由模型 {model} 写成：代理在此所做的内容会发送到 {host}，其中的机密已遮盖",
        "failing": "{host} 上的模型 {model} 无法使用（{problem}）：修复之前由规则写成记忆",
    },
}  # fmt: skip
# What is wrong with a model, by the class of the error, and what helps.
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

    @property
    def sends(self) -> bool:
        """Whether captured text leaves this machine."""
        return self.provider == MODEL and self.host not in _HERE

    def described(self, language: str = "en") -> str:
        """Who writes and where the text goes, in one line."""
        key = ("away" if self.sends else "here") if self.provider == MODEL else "chosen" if self.chosen else "no_key"
        return _TEXTS[language][key].format(model=self.model, host=self.host)

    def failing(self, error_class: str, language: str = "en") -> str:
        """That the model does not do it, why, and what helps, in one line."""
        problem = trouble(error_class, language)
        return _TEXTS[language]["failing"].format(model=self.model, host=self.host, problem=problem)


def trouble(error_class: str, language: str = "en") -> str:
    """What is wrong with a model and what helps."""
    said = _TROUBLES[language]
    return said.get(error_class, said[""])


def writer_of(provider: str, *, model: str, base_url: str, api_key: str) -> MemoryWriter:
    """Who writes, by these settings."""
    if provider == RULES or not (api_key or base_url):
        return MemoryWriter(RULES, chosen=provider == RULES)
    return MemoryWriter(MODEL, model, urlsplit(base_url or OPENAI_BASE_URL).hostname or "?")
