"""Secrets are masked before anything is stored, queued, spooled, logged or sent to a model.

`[REDACTED:<kind>]` takes their place. Three families are known: tokens with a telling beginning (`secret_tokens`),
secrets with a telling form (`secret_forms`) and values behind a telling label (`secret_labels`); what a caller or this
process knows as its own is masked by value. The rules are plain
string searches, so that time is linear whatever the input, and so that the hook, which lives for milliseconds, loads
neither regular expressions nor the rules that cannot match. Masking what is masked changes nothing.

What is captured has its secrets masked and nothing else (`SECRETS`). The wrapper chooses a level: `off` masks nothing,
`basic` secrets and e-mail addresses, `strict` also what else says who or where somebody is (`personal`).
"""

from __future__ import annotations

from codexmem.kernel.model import secret_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from codexmem.kernel.model.secret_tokens import Span

SECRETS = "secrets"  # what hooks and services mask, whatever a wrapper is told
LEVELS = ("off", "basic", "strict")  # what a person may choose, each masking more
DEEPEST = 60  # levels of a JSON value; the server refuses more
TOO_DEEP = "[nested too deeply]"
_LEAST_KNOWN = 8  # shorter values would mask half of every text
_PATHS = ("file_path", "path", "absolute_path", "filePath", "notebook_path", "target_file")
_SECRET_FILES = frozenset((".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".htpasswd", ".npmrc", ".pypirc",
                           "credentials", ".git-credentials", "id_dsa", "id_ecdsa", ".vault-token"))  # fmt: skip
_SECRET_ENDINGS = (".env", ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_NAMES, _VALUES = ("name", "key", "variable"), ("value", "val")


_own: list[str] = []  # credentials of this process, which it must never keep wherever they turn up


def mask_always(secret: str) -> None:
    """Mask this value too in everything that this process redacts from now on."""
    if secret and secret not in _own:
        _own.append(secret)


def masked(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[REDACTED:{kind}]"


def redact(text: str, known: Sequence[str] = (), level: str = SECRETS) -> str:
    """The text with its secrets masked; `known` are secrets by value, wherever they stand."""
    return text if level == "off" else _Rules(text, known, level).redact(text)


def redact_value(value: Any, known: Sequence[str] = (), level: str = SECRETS) -> Any:
    """A JSON value with the secrets in its strings and keys masked; what a telling key holds is masked as a whole."""
    if level == "off":
        return value
    texts: list[str] = []
    _collect(value, texts, 0)
    return _redacted(value, _Rules("\n".join(texts), known, level), 0)


def kinds_in(text: str, known: Sequence[str] = (), level: str = SECRETS) -> tuple[str, ...]:
    """The kinds of what would be masked, each once, in the order in which they first stand in the text."""
    found = sorted(_Rules(text, known, level).spans(text))
    return tuple(dict.fromkeys(kind for _, _, kind in found))


def names_secret_file(tool_input: Any) -> bool:
    """Whether a tool was given the path of a file that holds nothing but secrets, such as `.env` or `id_rsa`."""
    if not isinstance(tool_input, dict):
        return False
    return any(is_secret_file(tool_input[key]) for key in _PATHS if isinstance(tool_input.get(key), str))


def is_secret_file(path: str) -> bool:
    """Whether this file is kept by people to hold secrets; its examples are not."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    if name.endswith((".example", ".sample", ".template", ".dist", ".pub")):
        return False
    return name in _SECRET_FILES or name.endswith(_SECRET_ENDINGS) or name.startswith((".env.", "id_rsa", "id_ed25519"))


def without_content(tool_input: Any) -> Any:
    """A tool's input with nothing left but which file it was about."""
    return {key: value for key, value in tool_input.items() if key in _PATHS} if isinstance(tool_input, dict) else None


def _collect(value: Any, texts: list[str], depth: int) -> None:
    if depth >= DEEPEST:
        return
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            texts.append(str(key))
            _collect(each, texts, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, texts, depth + 1)


def _redacted(value: Any, rules: _Rules, depth: int) -> Any:
    if isinstance(value, str):
        return rules.redact(value)
    if depth >= DEEPEST and isinstance(value, dict | list | tuple):
        return TOO_DEEP
    if isinstance(value, list | tuple):
        return [_redacted(each, rules, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    named = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")
    made = {}
    for key, each in value.items():
        kind = rules.kind_of(str(key)) or (rules.kind_of(named) if named and key in _VALUES else None)
        if kind and _worth_masking(each, kind):
            made[rules.redact(str(key))] = each if _is_masked(each) else masked(kind)
        else:
            made[rules.redact(str(key))] = _redacted(each, rules, depth + 1)
    return made


def _worth_masking(value: Any, kind: str) -> bool:
    """A count called `token` is no secret, and neither is a switch."""
    if isinstance(value, bool) or value is None:
        return False
    return bool(value) if not isinstance(value, int | float) else kind == "password"


def _is_masked(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("[REDACTED:") and value.endswith("]")


class _Rules:
    """The rules that can match in a text or in any part of it."""

    def __init__(self, text: str, known: Sequence[str], level: str) -> None:
        if "\0" in text:
            text += text.replace("\0", "")
        self._plain: tuple[str, tuple[str, list[int]] | None] = ("", None)  # the text that was read last, unescaped
        if (plain := self._unescaped(text)) is not None:
            text += plain[0]
        self._tokens = secret_tokens.found_in(text)
        self._known = _spellings((*known, *_own), text)
        # The other two families cost an import each, so a mark of theirs must be there.
        self._forms: list[int] = []
        if any(map(text.__contains__, _FORM_MARKS)):
            from codexmem.kernel.model import secret_forms

            self._forms = secret_forms.found_in(text)
        lowered = text.lower()
        self._labels = any(map(lowered.__contains__, _LABEL_MARKS))
        self._emails = level in {"basic", "strict"} and "@" in text
        self._strict = level == "strict"

    def kind_of(self, key: str) -> str | None:
        """The kind of secret that this key announces."""
        if not self._labels:
            return None
        from codexmem.kernel.model import secret_labels, secret_vendors

        return secret_labels.kind_of_key(key) or secret_vendors.kind_of_key(key)

    def redact(self, text: str) -> str:
        """The text, masked."""
        if not (self._tokens or self._forms or self._labels or self._known or self._emails or self._strict):
            return text
        if "\0" in text:  # text in two bytes per letter, read as one
            text = text.replace("\0", "")
        found = self.spans(text)
        return _replaced(text, found) if found else text

    def spans(self, text: str) -> list[Span]:
        """Where something is masked, in any order."""
        if (plain := self._unescaped(text)) is None:
            return self._spans(text, 1)
        escaped = ((plain[1][begin], plain[1][end], kind) for begin, end, kind in self._spans(plain[0], 2))
        return [*self._spans(text, 2), *escaped]

    def _spans(self, text: str, passes: int) -> list[Span]:
        found: list[Span] = [*secret_tokens.spans(text, self._tokens), *self._known_spans(text)]
        if self._forms:
            from codexmem.kernel.model import secret_forms

            found += secret_forms.spans(text, self._forms)
        if self._labels:
            from codexmem.kernel.model import secret_labels, secret_vendors

            found += secret_labels.spans(text, passes)
            found += secret_vendors.spans(text, passes)
        if self._emails or self._strict:
            from codexmem.kernel.model import pii

            found += pii.emails(text) if self._emails else ()
            found += pii.strict(text) if self._strict else ()
        return found

    def _unescaped(self, text: str) -> tuple[str, list[int]] | None:
        if "%" not in text or not any(map(text.__contains__, _ESCAPE_MARKS)):
            return None
        if self._plain[0] is not text:
            self._plain = (text, _unescaped(text))
        return self._plain[1]

    def _known_spans(self, text: str) -> Iterable[Span]:
        for each in self._known:
            at = text.find(each)
            while at >= 0:
                yield at, at + len(each), "known"
                at = text.find(each, at + len(each))


# One of these is in every form of `secret_forms`, and in every label of `secret_labels`, written in lower case.
_FORM_MARKS = ("-----BEGIN", "-----END", "Private-Lines", "eyJ", "://", "uthorization", "UTHORIZATION", "earer ",
               "BEARER ", "ookie:", "COOKIE:", " -u ", "--user ", "sshpass -p ", ":AA", "Q~", "-us", "AKIA",
               "ASIA", ".atlasv1.")  # fmt: skip
_LABEL_MARKS = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "authorization", "cookie",
                "private", "access", " pat ", "_pat", "密", "口令", "秘钥", "令牌", "授权码")  # fmt: skip


def _spellings(known: Sequence[str], text: str) -> list[str]:
    """Each known secret as it is, in base64 and escaped for an address, as far as the text holds it."""
    spelled: list[str] = []
    for each in known:
        if len(each) >= _LEAST_KNOWN:
            import binascii

            encoded = binascii.b2a_base64(each.encode("utf-8", "replace"), newline=False).decode().rstrip("=")
            escaped = "".join(c if c.isalnum() or c in "-_.~" else f"%{ord(c):02X}" for c in each)
            spelled += {each, encoded, escaped}
    return sorted({each for each in spelled if each in text}, key=len, reverse=True)


def _unescaped(text: str) -> tuple[str, list[int]] | None:
    """The text as an address means it, and where each of its places is in the text; None if nothing is escaped."""
    first, *rest = text.split("%")
    pieces, places, at, changed = [first], list(range(len(first))), len(first), False
    for piece in rest:
        letter = _ESCAPED.get(piece[:2])
        kept = letter + piece[2:] if letter else "%" + piece
        places += [at, *range(at + 3, at + 1 + len(piece))] if letter else range(at, at + 1 + len(piece))
        pieces.append(kept)
        at, changed = at + 1 + len(piece), changed or letter is not None
    return ("".join(pieces), [*places, at]) if changed else None


_ESCAPE_MARKS = ("%2", "%3", "%4", "%5", "%7")
# What addresses escape of the letters that secrets are made of, or that stand around them.
_ESCAPED = {f"{ord(each):02X}": each for each in " !\"#$&'()*+,/:;=?@[]{}|"}
_ESCAPED |= {code.lower(): each for code, each in _ESCAPED.items()}


def _replaced(text: str, found: list[Span]) -> str:
    """The text with the spans masked; of overlapping ones the first and longest names the kind, and all are gone."""
    joined: list[Span] = []
    reached = 0
    for span in sorted(found):
        begin, end, kind = span
        if begin >= reached:
            joined.append(span)
            reached = end
        elif end > reached:
            first, _, named = joined[-1]
            joined[-1] = (first, end, kind if begin == first else named)
            reached = end
    pieces, place = [], 0
    for begin, end, kind in joined:
        pieces += [text[place:begin], masked(kind)]
        place = end
    return "".join([*pieces, text[place:]])
