"""Secrets that give themselves away by what stands before them: `PASSWORD=…`, `"api_key": "…"`, `密码: …`.

A label alone is not enough, because code is full of `token = request.token`. What is literal is told from what is code
by how it is written: quoted, glued to an equals sign, with digits and signs. Labels and values are read over bounded
stretches; a text that is nothing but labels is given up as a whole rather than read for ever.
"""

from __future__ import annotations

from codexmem.kernel.model.secret_forms import is_template, word_end
from codexmem.kernel.model.secret_tokens import DIGITS, WORD, has_digit, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem.kernel.model.secret_tokens import Span

# Words that a label may hold, in lower case, to look for in the text.
WORDS = ("passw", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "api key", "access_key",
         "access-key", "accesskey", "private_key", "privatekey", "private-key", "auth_key", "encryption_key",
         "signing_key", "master_key", "credential", "密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "令牌",
         "授权码")  # fmt: skip
# What a label ends in, without its separators, and the kind of its secret.
_ENDINGS = (
    ("password", "password"), ("passwd", "password"), ("passwort", "password"), ("passphrase", "password"),
    ("pwd", "password"), ("密码", "password"), ("密碼", "password"), ("口令", "password"), ("授权码", "password"),
    ("apikey", "api-key"), ("accesskey", "api-key"), ("secretkey", "api-key"), ("privatekey", "private-key"),
    ("privatekeyid", "private-key"), ("authkey", "api-key"), ("encryptionkey", "api-key"), ("signingkey", "api-key"),
    ("masterkey", "api-key"), ("accesskeysecret", "api-key"), ("secret", "secret"), ("token", "token"),
    ("credential", "secret"), ("credentials", "secret"), ("密钥", "secret"), ("密鑰", "secret"), ("秘钥", "secret"),
    ("令牌", "token"),
)  # fmt: skip
_ALL_ENDINGS = tuple(ending for ending, _ in _ENDINGS)
_NOT_SECRET = ("pagetoken", "continuationtoken", "cancellationtoken", "nexttoken", "padtoken", "eostoken", "bostoken",
               "unktoken", "septoken", "clstoken", "masktoken", "stoptoken", "pertoken", "oldpwd")  # fmt: skip
_SUFFIXES = ("value", "prod", "production", "dev", "test", "staging", "base64", "b64", "old", "new")
_ONLY_AS_KEYS = ("authorization", "proxyauthorization", "cookie", "setcookie", "xapikey", "xauthtoken")
_LABEL = WORD + "_-.$"
_LABEL_OR_TYPE = frozenset(_LABEL + "[]|&?<>, '")
_SEPARATED = dict.fromkeys(map(ord, "_-.$"))  # what stands between the words of a label
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}  # noqa: RUF001
_SIGNS_OF_SEPARATORS = frozenset("=:-：＝是为為")  # noqa: RUF001
_SEPARATORS = (":=", "=>", "->", "==", "=", ":", "：", "＝", "是", "为", "為")  # noqa: RUF001
_COLONS = (":", "：", "是", "为", "為")  # noqa: RUF001
_ENDS = dict.fromkeys(map(ord, " \t\r\n\"'`,;<>|&，。；、）」”’"), "\n")  # noqa: RUF001
_ORDINARY = frozenset((
    "none", "null", "nil", "true", "false", "undefined", "string", "str", "text", "number", "int", "bool", "boolean",
    "bytes", "object", "any", "unknown", "required", "optional", "hidden", "input", "output", "example", "default",
    "empty", "bearer", "basic", "invalid", "missing", "redacted", "changed", "password", "passwd", "token", "secret",
    "key", "value", "username", "user", "admin", "root", "test", "auth", "oauth", "public", "private", "session",
    "cookie", "header", "query", "request", "response", "variable", "field", "column", "type", "name", "expired",
    "disabled", "enabled", "inherit", "here",
))  # fmt: skip
_PREFIXES = frozenset("bruBRU")  # of literals in Python and others
_CODE = frozenset("()[]{}")
_NO_BEGINNING = frozenset("()[]{}<$%*")  # of what is written without quotes: code, or what stands for a secret
_JUDGED = 128  # characters of a value that it is judged by
_SIGNS = frozenset("!@#$%^&*~?+=")
_NO_DIGITS = dict.fromkeys(map(ord, DIGITS))
_DENSE = 64  # a label every so many characters is no text


def kind_of(label: str) -> str | None:
    """The kind of secret that a label announces, or None."""
    return _kind("".join(each for each in label[-80:].lower() if each.isalnum()))


def _kind(flat: str) -> str | None:
    flat = flat.rstrip(DIGITS)
    for suffix in _SUFFIXES:
        flat = flat.removesuffix(suffix)
    if flat.endswith(_NOT_SECRET) or not flat.endswith(_ALL_ENDINGS):
        return None
    return next((kind for ending, kind in _ENDINGS if flat.endswith(ending)), None)


def kind_of_key(key: str) -> str | None:
    """The same for the key of a JSON value, which may also be the name of a header."""
    flat = "".join(each for each in key[-80:].lower() if each.isalnum())
    return "authorization" if flat in _ONLY_AS_KEYS else _kind(flat)


def spans(text: str, passes: int = 1) -> Iterator[Span]:
    """What stands behind labels; of a text that is looked through several times, each time may take its share."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("\u0130", "i").lower()
    left = (1000 + len(text) // _DENSE) // passes
    kinds: dict[str, str | None] = {}  # most labels stand in a text more than once
    for word in WORDS:
        at = lowered.find(word)
        while at >= 0:
            left -= 1
            if left < 0:
                yield at, len(text), "too-dense"
                return
            begin, end = _label(text, at, at + len(word))
            label = text[begin:end]
            if label not in kinds:
                kinds[label] = _kind(label[-80:].lower().translate(_SEPARATED).replace(" ", ""))
            kind = kinds[label]
            found = _value(text, begin, end, is_password=kind == "password") if kind else None
            if found and kind:
                yield (*found, kind)
                end = max(end, found[1])
            at = lowered.find(word, end)


def _label(text: str, begin: int, end: int) -> tuple[int, int]:
    """The whole identifier around the word."""
    before, after = text[max(0, begin - 64) : begin], text[end : end + 64]
    return begin - len(before) + len(before.rstrip(_LABEL)), end + len(after) - len(after.lstrip(_LABEL))


def _value(text: str, begin: int, end: int, *, is_password: bool) -> tuple[int, int] | None:
    """Where the value behind this label stands, if it is literal."""
    place = end + run(text, end, "\"'`\\]*", 4)
    place += run(text, place, " \t", 8)
    separator = ""
    if text[place : place + 1] in _SIGNS_OF_SEPARATORS:
        separator = next((each for each in _SEPARATORS if text.startswith(each, place)), "")
    in_tag = text[place : place + 1] == ">" and text[begin - 1 : begin] == "<"
    is_flag = text.startswith("-", begin)
    spoken = text[place : place + 3].lower() == "is "
    if not (separator or in_tag or spoken or (is_flag and place > end)):
        return None
    if text[begin - 3 : begin] == "://":  # the user of an address
        return None
    after = place + (len(separator) if separator else 1 if in_tag else 3 if spoken else 0)
    start = after + run(text, after, " \t", 8)
    if separator == ":":
        start = _past_type(text, start)
    if text.startswith("\\", start) and text[start + 1 : start + 2] in {'"', "'"}:
        return _quoted(text, start + 2, text[start : start + 2], is_password)
    if text[start : start + 1] in _PREFIXES and text[start + 1 : start + 2] in {'"', "'"}:
        start += 1
    if (quote := _CLOSING.get(text[start : start + 1])) is not None:
        return _quoted(text, start + 1, quote, is_password)
    if text[start : start + 1] in _NO_BEGINNING:
        return None
    piece = text[start : start + _JUDGED]
    piece = piece if piece.isascii() else _ascii_part(piece)
    stop = start + len(piece.translate(_ENDS).partition("\n")[0])
    value = text[start:stop].rstrip(".")
    tight = start == end + len(separator) and bool(separator)
    label = text[begin:end]
    loud = is_flag or in_tag or label.isupper() or (tight and "." in label) or text[begin - 1 : begin] in {"?", "&"}
    loud = loud or (tight and separator == "=" and has_digit(value) and not _is_argument(text, begin, stop))
    if spoken:
        literal = len(value) >= 5 and _mixed(value)
    elif is_password:
        literal = _bare_password(value, loud=loud, tight=tight, colon=separator in _COLONS)
    else:
        literal = _bare_key(value, loud=loud, tight=tight, colon=separator in _COLONS)
    if not literal or not _literal(value):
        return None
    return start, word_end(text, stop, _ENDS, len(text)) if stop == start + _JUDGED else start + len(value)


def _ascii_part(value: str) -> str:
    """What stands before the first Chinese character, where no space is written."""
    try:
        value.encode("ascii")
    except UnicodeEncodeError as error:
        return value[: error.start]
    return value


def _is_argument(text: str, begin: int, stop: int) -> bool:
    """Whether `name=value` stands between the brackets of a call."""
    return text[max(0, begin - 8) : begin].rstrip()[-1:] in {"(", ","} or text[stop : stop + 1] in {",", ")"}


def _past_type(text: str, start: int) -> int:
    """Behind `str = ` in `password: str = "…"`."""
    equals = text.find(" = ", start, start + 40)
    if equals < 0 or text[start] in _CLOSING or not set(text[start:equals]) <= _LABEL_OR_TYPE:
        return start
    return equals + 3


def _quoted(text: str, start: int, quote: str, is_password: bool) -> tuple[int, int] | None:
    stop = text.find(quote, start, start + 2048)
    value = text[start:stop] if stop >= 0 else ""
    if "\n" in value or not value.isascii() or is_template(value) or not _literal(value):
        return None
    bare = value.lower().strip("-_. ")
    if " " in value:
        secret = is_password and has_digit(value) and len(value) <= 80
    elif has_digit(value) or set(value) & _SIGNS:
        secret = len(value) >= (4 if is_password else 8)
    else:
        plain = value.isalpha()
        secret = bare not in _ORDINARY and (len(value) >= 6 if is_password else len(value) >= 12) and plain
    return (start, stop) if secret else None


def _literal(value: str) -> bool:
    """Whether this can be a secret at all: no path, no address, no placeholder, no earlier mask."""
    lowered = value[:12].lower()
    if lowered.startswith(("/", "~/", "./", "../", "http://", "https://", "your", "<", "[redacted", "${", "{{")):
        return lowered.startswith("/") and ("+" in value or "=" in value)
    return not (value[1:3] in {":\\", ":/"} or is_template(value)) and value.isascii()


def _mixed(value: str) -> bool:
    return (has_digit(value) or bool(set(value) & _SIGNS)) and not set(value) & _CODE


def _is_chain(value: str) -> bool:
    """`request.body.token` and the like; the parts of a real token are longer."""
    parts = value.split(".")
    return len(parts) > 1 and all(part.isidentifier() for part in parts) and max(map(len, parts)) < 20


def _bare_password(value: str, *, loud: bool, tight: bool, colon: bool) -> bool:
    if len(value) < 4 or set(value) & _CODE or _is_chain(value):
        return False
    if value.isdigit():
        return True
    if _mixed(value):
        if value.isidentifier() and not (loud or colon):
            return len(value) >= 12
        return len(value) >= (4 if loud or tight else 6)
    return loud and len(value) >= 6 and value.lower() not in _ORDINARY and value.isalpha()


def _bare_key(value: str, *, loud: bool, tight: bool, colon: bool) -> bool:
    if len(value) < 8 or not has_digit(value) or not value.strip(DIGITS + ".") or set(value) & _CODE:
        return False
    if _is_chain(value):
        return False
    if loud:
        return True
    if value.isidentifier():
        digits = len(value) - len(value.translate(_NO_DIGITS))
        if "_" in value:  # a name, unless no name is so long and so mixed
            return len(value) >= 32 and digits >= 4 and value.lower() != value != value.upper()
        return len(value) >= (10 if digits >= 3 and (tight or colon) else 16)
    return len(value) >= (10 if tight or colon else 16)
