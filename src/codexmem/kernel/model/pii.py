"""What says who somebody is, or what is only true of one machine: masked by the levels `basic` and `strict`.

`basic` masks e-mail addresses. `strict` also masks telephone numbers, numbers of cards and of Chinese identity cards
(each by its check digit), addresses of machines, the user's name in a home directory, and long random strings that
nothing labels. Addresses that belong to nobody (example.org, 127.0.0.1, /home/runner) are left alone. As in the rules
for secrets, everything is found by a fixed mark and read over a bounded stretch, so that the time is linear.
"""

from __future__ import annotations

import itertools

from codexmem.kernel.model.secret_tokens import DIGITS, HEX, URL, WORD, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem.kernel.model.secret_tokens import Span

_LOCAL = WORD + "._%+-"
_HOST = WORD + ".-"
_LOCAL_SET, _LETTERS = frozenset(_LOCAL), frozenset(WORD)
_DOMAINS = frozenset((
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "name", "pro", "mobi", "app", "dev", "cloud",
    "tech", "online", "site", "store", "email", "xyz", "top", "vip", "club", "work", "group", "team", "live", "world",
    "today", "agency", "digital", "software", "systems", "engineering", "academy", "company", "foundation", "network",
))  # fmt: skip
_NOBODY = ("example.com", "example.org", "example.net", "example.edu", "example.cn", "domain.com", "noreply.github.com")
_ENDINGS_OF_NOBODY = (".example", ".test", ".invalid", ".localhost", ".local")
_NOBODYS_NAMES = frozenset(("noreply", "no-reply", "donotreply", "git", "user", "username", "you", "someone", "email"))
_HOMES = ("/home/", "/Users/", "\\Users\\", "/users/")
_NOBODYS_HOMES = frozenset((
    "user", "users", "username", "me", "you", "name", "runner", "ubuntu", "debian", "root", "app", "node", "vscode",
    "admin", "shared", "public", "default", "guest", "example", "linuxbrew", "jovyan", "somebody", "someone", "dev",
))  # fmt: skip
_LEAST_RANDOM = 32
_SPLIT = {each: " " for each in range(128) if chr(each) not in URL}
_ZEROS = dict.fromkeys(map(ord, DIGITS), "0")
_DOUBLED = {each: sum(divmod(2 * int(each), 10)) for each in DIGITS}
_BYTES = frozenset(map(str, range(256)))
_VERSION = ("version ", "version=", "version: ", "v", "==", ">=", "~=", "^")
_EXAMPLES = ("192.0.2.", "198.51.100.", "203.0.113.")
_PART_OF_MORE = frozenset((".", "/", ":", "#", "=", "$", "-"))
_BEFORE_PLUS = frozenset((" ", "(", '"', "'", ":", "\n", "\t", "?"))
# By the length of the first group and what follows it: the form, what the number may begin with, and its kind.
_FORMS: dict[tuple[int, str], tuple[tuple[str, str, str], ...]] = {
    (3, "-"): (("000-0000-0000", "1", "phone"), ("000-000-0000", "23456789", "phone"), ("000-00000000", "0", "phone")),
    (3, " "): (("000 0000 0000", "1", "phone"),),
    (3, ")"): (("000) 000-0000", "23456789", "phone"),),
    (4, "-"): (
        ("0000-0000000", "0", "phone"),
        ("0000-00000000", "0", "phone"),
        ("0000-0000-0000-0000", "3456", "card"),
    ),
    (4, " "): (("0000 0000 0000 0000", "3456", "card"),),
}
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def emails(text: str) -> Iterator[Span]:
    """Where e-mail addresses of people stand."""
    at = text.find("@")
    while at >= 0:
        if text[at - 1 : at] in _LOCAL_SET and text.find(".", at + 2, at + 100) > 0:
            after = text[at + 1 : at + 100]
            host = after[: len(after) - len(after.lstrip(_HOST))].rstrip(".-").lower()
            end = at + 1 + len(host)
            if text[end : end + 1] not in {"(", "@"} and _is_somebodys(host):
                before = text[max(0, at - 64) : at]
                name = before[len(before.rstrip(_LOCAL)) :].lstrip(".%+-")
                if name and name.lower() not in _NOBODYS_NAMES and not text.startswith("://", at - len(name) - 3):
                    yield at - len(name), end, "email"
        at = text.find("@", at + 1)


def _is_somebodys(host: str) -> bool:
    name, _, last = host.rpartition(".")
    if not name or not (last in _DOMAINS or (len(last) == 2 and last.isalpha())):
        return False
    return host not in _NOBODY and not host.endswith(_ENDINGS_OF_NOBODY)


def strict(text: str) -> Iterator[Span]:
    """What only the level `strict` masks."""
    text = text.encode("ascii", "replace").decode()  # a question mark for each letter of another alphabet
    yield from _homes(text)
    yield from _random(text)
    yield from _six(text)
    shape = text.translate(_ZEROS)  # every digit a zero, so that the form of a number is a plain text
    yield from _four(text, shape)
    yield from _international(text, shape)
    yield from _numbers(text, shape)


def _four(text: str, shape: str) -> Iterator[Span]:
    """IPv4 addresses of machines; a version number may look like one."""
    at = shape.find("0.0")
    while at >= 0:
        before = shape[max(0, at - 2) : at]
        begin = at - len(before) + len(before.rstrip("0"))
        end = begin + run(text, begin, DIGITS + ".", 16)
        parts = text[begin:end].rstrip(".").split(".")
        whole = ".".join(parts)
        if len(parts) == 4 and text[begin - 1 : begin] not in _PART_OF_MORE and _BYTES.issuperset(parts):
            named = text[max(0, begin - 9) : begin].lower().endswith(_VERSION)
            if not named and parts[0] not in {"0", "127", "255"} and not whole.startswith(_EXAMPLES):
                yield begin, begin + len(whole), "ip"
        at = shape.find("0.0", max(end, at + 3))


def _international(text: str, shape: str) -> Iterator[Span]:
    """Telephone numbers behind a plus sign."""
    at = shape.find("+0")
    while at >= 0:
        end = at + 2
        if not at or text[at - 1] in _BEFORE_PLUS:
            whole = shape[at + 1 : at + 1 + run(shape, at + 1, "0 -().", 24)].rstrip(" -().")
            end = at + 1 + len(whole)
            if 8 <= whole.count("0") <= 15 and not shape[end : end + 1].isalnum():
                yield at, end, "phone"
        at = shape.find("+0", end)


def _numbers(text: str, shape: str) -> Iterator[Span]:
    """Telephone numbers of China and North America, numbers of cards and of identity cards."""
    at = shape.find("000")
    while at >= 0:
        end = at + run(shape, at, "0", 64)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        found = None
        if not (before.isalpha() or before in _PART_OF_MORE or before == "_"):
            if (forms := _FORMS.get((end - at, after))) is not None:
                found = _grouped(text, shape, at, forms)
            elif end - at >= 11 and not (after.isalpha() and after not in "xX"):
                found = _single(text, at, end)
        if found:
            yield found
            end = max(end, found[1])
        at = shape.find("000", end)


def _grouped(text: str, shape: str, at: int, forms: tuple[tuple[str, str, str], ...]) -> Span | None:
    """A number written in groups."""
    for form, beginnings, kind in forms:
        if shape.startswith(form, at) and shape[at + len(form) : at + len(form) + 1] != "0" and text[at] in beginnings:
            if kind == "phone" or _luhn(text[at : at + len(form)].replace(" ", "").replace("-", "")):
                return at - (text[at - 1 : at] == "("), at + len(form), kind
    return None


def _single(text: str, at: int, end: int) -> Span | None:
    """A number in one piece: a Chinese mobile number, or one that its check digit shows to be a card's."""
    digits = text[at:end]
    if len(digits) == 11:
        return (at, end, "phone") if digits[0] == "1" and digits[1] in "3456789" else None
    if len(digits) == 17 and text[end : end + 1] in {"x", "X"}:
        digits += "X"
    if len(digits) == 18 and digits[6:8] in {"18", "19", "20"}:
        rest = sum(int(digit) * weight for digit, weight in zip(digits, _ID_WEIGHTS, strict=False)) % 11
        return (at, at + 18, "id-number") if "10X98765432"[rest] == digits[17] else None
    known = len(digits) in {15, 16, 19} and digits[0] in "3456" and digits.isdigit() and _luhn(digits)
    return (at, end, "card") if known else None


def _luhn(digits: str) -> bool:
    if len(set(digits)) <= 3:
        return False
    return (sum(map(int, digits[-1::-2])) + sum(map(_DOUBLED.__getitem__, digits[-2::-2]))) % 10 == 0


_SIX = frozenset(("20", "24", "26", "28", "2a", "fd", "fe"))  # how addresses that are given out begin


def _six(text: str) -> Iterator[Span]:
    """IPv6 addresses of machines; `std::vector` and times of day are none."""
    alphabet = HEX + ":"
    at = text.find(":")
    while at >= 0:
        before = text[max(0, at - 4) : at]
        begin = at - len(before) + len(before.rstrip(HEX))
        end = begin + run(text, begin, alphabet, 40)
        whole = text[begin:end].rstrip(":") if not text[begin:end].endswith("::") else text[begin:end]
        edges = text[begin - 1 : begin], text[begin + len(whole) : begin + len(whole) + 1]
        parts = [part for part in whole.split(":") if part]
        short = "::" in whole and len(parts) >= 2 and whole[:2].lower() in _SIX
        if (len(parts) == 8 or short) and whole.count("::") <= 1 and max(map(len, parts)) <= 4:
            if not any(edge.isalnum() or edge == "_" for edge in edges):
                yield begin, begin + len(whole), "ip"
        at = text.find(":", max(end, at + 1))


def _homes(text: str) -> Iterator[Span]:
    """The user's name in the path of a home directory."""
    for mark in _HOMES:
        at = text.find(mark)
        while at >= 0:
            begin = at + len(mark)
            end = begin + run(text, begin, URL + ".", 40)
            if end > begin and text[at - 1 : at] not in _LETTERS and text[begin:end].lower() not in _NOBODYS_HOMES:
                yield begin, end, "user"
            at = text.find(mark, end)


def _random(text: str) -> Iterator[Span]:
    """Long strings of mixed letters and digits; a hash in one case is left alone, it is a name and no secret."""
    at = 0
    for piece in text.translate(_SPLIT).split(" "):
        if len(piece) >= _LEAST_RANDOM and _is_random(piece):
            yield at, at + len(piece), "random"
        at += len(piece) + 1


_KINDS = {ord(each): "d" if each in DIGITS else "u" if each.isupper() else "l" for each in WORD} | {45: "s", 95: "s"}


def _is_random(piece: str) -> bool:
    """Upper, lower and digits change places as often as chance makes them."""
    kinds = piece[:256].translate(_KINDS)
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return len({"d", "u", "l"} & set(kinds)) == 3 and changes * 3 >= len(kinds) and kinds.count("d") * 25 >= len(kinds)
