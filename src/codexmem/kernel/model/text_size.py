"""How large a text is to a model, estimated without one.

Four characters of an alphabet make about one token. Characters of Chinese, Japanese and Korean, and symbols such as
emoji, make about one each, so counting four of those as one would promise a quarter of the true cost.
"""

import re

# Hangul, CJK with its punctuation, kana, compatibility and full-width forms; rare ideographs and emoji.
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef\U0001f000-\U0003ffff]")
_NARROW_A_TOKEN = 4


def tokens(text: str) -> int:
    """About how many tokens the text costs; 0 for nothing, and a longer text never costs less."""
    wide = sum(1 for _ in _WIDE.finditer(text)) if not text.isascii() else 0
    return wide + -(-(len(text) - wide) // _NARROW_A_TOKEN)
