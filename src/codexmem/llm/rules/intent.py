"""What a person wanted, from a word in the request: it tells a fix from a feature where the change alone cannot."""

import re

_LOOK_AT = 2_000
_WORDS: tuple[tuple[str, str, str], ...] = (
    ("bugfix", "fix|fixes|fixed|bug|bugs|crash|crashes|broken|regression", "修复|修正|修一下|错误|报错|崩溃|缺陷"),
    ("refactor", "refactor|refactoring|rename|clean ?up|simplify|restructure|reorgani[sz]e", "重构|重命名|整理|简化"),
    ("feature", "add|implement|create|introduce|support|build", "新增|添加|增加|实现|支持|新建|开发"),
)
_PATTERNS = tuple(
    (kind, re.compile(rf"\b(?:{latin})\b|{han}", re.IGNORECASE | re.ASCII)) for kind, latin, han in _WORDS
)


def wanted(prompt: str) -> str:
    """The type of a change that answers this request."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(prompt[:_LOOK_AT])), "change")
