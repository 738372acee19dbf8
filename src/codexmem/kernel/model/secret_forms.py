"""Secrets that give themselves away by their form: private keys, signed tokens, passwords in addresses and headers.

Each form is found by a fixed mark and read on from there over a bounded stretch, and looking goes on behind what was
read, so that the time is linear. A private key reaches to its end line, or to the end of the text if that is missing.
"""

from __future__ import annotations

from codexmem.kernel.model.secret_tokens import BASE64, DIGITS, HEX, URL, WORD, has_digit, joined, run, stands_apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codexmem.kernel.model.secret_tokens import Span

    # Given the text, where the mark stands and where it ends: where the secret begins, and where it ends or, if there
    # is none and the first is negative, where to look on.
    Reader = Callable[[str, int, int], tuple[int, int]]

_SCHEMES = ("bearer", "basic", "token", "digest", "apikey", "api-key", "negotiate", "ntlm", "aws4-hmac-sha256")
_TEMPLATES = ("$", "{", "<", "%", "*", "[", "…", "...")  # what stands for a secret is none
_ADDRESS_ENDS = dict.fromkeys(map(ord, " \t\r\n\"'`<>\\/?#"), "\n")
_TOKEN_ENDS = dict.fromkeys(map(ord, " \t\r\n\"'`<>\\,;"), "\n")
_LINE_ENDS = dict.fromkeys(map(ord, "\r\n\"'`<>\\"), "\n")
_SIGNED = URL + "."
_CLIENT_SECRET = URL + "~."
_NOT_BASE64 = {each: " " for each in range(128) if chr(each) not in BASE64}


def found_in(text: str) -> list[int]:
    """Which rows of the table can match at all."""
    return [row for row, form in enumerate(_FORMS) if form[1] in text]


def spans(text: str, rows: list[int]) -> Iterator[Span]:
    """The secrets of these forms."""
    for row in rows:
        kind, mark, read = _FORMS[row]
        at = text.find(mark)
        while at >= 0:
            place = at + len(mark)
            begin, end = read(text, at, place)
            if begin >= 0:
                yield begin, end, kind
            at = text.find(mark, max(end, place))


def is_template(value: str) -> bool:
    """Whether this only says where a secret would go."""
    return not value or value.startswith(_TEMPLATES) or not value.strip("*x.•_-")


def word_end(text: str, at: int, ends: dict[int, str], most: int) -> int:
    """Where the word that begins here ends; `ends` maps the characters that end it to a line feed."""
    last, step = min(len(text), at + most), 32  # most words are short
    while at < last:
        piece = text[at : min(at + step, last)]
        found = piece.translate(ends).find("\n")
        if found >= 0:
            return at + found
        at, step = at + len(piece), 512
    return last


def _private_key(text: str, at: int, place: int) -> tuple[int, int]:
    head = text.find("-----", place, place + 80)
    named = text[place:head]
    if head < 0 or "PRIVATE" not in named or "KEY" not in named:  # in an address the space is written %20
        return -1, place
    end = text.find("-----END", head)
    last = text.find("-----", end + 8) if end >= 0 else -1
    return at, last + 5 if last >= 0 else len(text)


def _end_of_key(text: str, at: int, place: int) -> tuple[int, int]:
    """A key whose beginning was cut off: everything up to its end line."""
    named = text[place : place + 40]
    if "PRIVATE" not in named or "KEY" not in named or text.find("-----END") != at or "-----BEGIN" in text[:at]:
        return -1, place
    last = text.find("-----", place)
    return 0, last + 5 if last >= 0 else len(text)


def _putty_key(text: str, at: int, place: int) -> tuple[int, int]:
    end = text.find("Private-MAC", place)
    return at, end if end >= 0 else len(text)


def _signed(text: str, at: int, place: int) -> tuple[int, int]:
    """A web token: three parts of base64 (five if it is encrypted), the first being an object."""
    if not stands_apart(text, at):
        return -1, place
    end, token = joined(text, at, _SIGNED, 30)
    if end < 0:
        return -1, place
    parts = token.split(".", 5)
    whole = len(parts) in {3, 5} and len(parts[0]) >= 10 and (len(parts) == 5 or len(parts[1]) >= 2)
    return (at if whole else -1), end


def _address(text: str, _at: int, place: int) -> tuple[int, int]:
    """The password in `scheme://user:password@host`, or a token in the place of the user."""
    if text.find("@", place, place + 600) < 0:
        return -1, place
    end = word_end(text, place, _ADDRESS_ENDS, 600)
    sign = text.rfind("@", place, end)
    colon = text.find(":", place, sign) if sign > 0 else -1
    if colon >= 0 and not is_template(text[colon + 1 : sign]):
        return colon + 1, sign
    if sign > 0 and colon < 0 and sign - place >= 20 and has_digit(text[place:sign]):
        return place, sign
    return -1, end


def _header(text: str, _at: int, place: int) -> tuple[int, int]:
    """What follows `Authorization`, but not the name of the scheme."""
    place += run(text, place, "\"'\\ \t", 4)
    if text[place : place + 1] not in {":", "="}:
        return -1, place
    place += 1 + run(text, place + 1, "\"'\\ \t=>", 6)
    end = word_end(text, place, _TOKEN_ENDS, 4096)
    known = text[place:end].lower() in _SCHEMES
    if known:
        place = end + run(text, end, " \t", 4)
        end = word_end(text, place, _LINE_ENDS, 4096)
    value = text[place:end]
    secret = not is_template(value) and (known or (len(value) >= 16 and has_digit(value)))
    return (place if secret else -1), end


def _bearer(text: str, _at: int, place: int) -> tuple[int, int]:
    end = word_end(text, place, _TOKEN_ENDS, 4096)
    value = text[place:end]
    return (place if len(value) >= 16 and has_digit(value) and not is_template(value) else -1), end


def _cookie(text: str, _at: int, place: int) -> tuple[int, int]:
    place += run(text, place, " \t", 4)
    end = word_end(text, place, _LINE_ENDS, 4096)
    equals = text.find("=", place, end)
    return (place if equals > 0 and end - equals > 8 else -1), end


def _curl_user(text: str, at: int, place: int) -> tuple[int, int]:
    """`curl -u name:password`."""
    place += run(text, place, " \"'", 3)
    end = word_end(text, place, _TOKEN_ENDS, 200)
    colon = text.find(":", place, end)
    if colon < 0 or "curl" not in text[max(0, at - 400) : at] or is_template(text[colon + 1 : end]):
        return -1, end
    return colon + 1, end


def _sshpass(text: str, _at: int, place: int) -> tuple[int, int]:
    place += run(text, place, " \"'", 3)
    end = word_end(text, place, _TOKEN_ENDS, 200)
    return (-1 if is_template(text[place:end]) else place), end


def _telegram(text: str, at: int, place: int) -> tuple[int, int]:
    begin = at
    while begin and at - begin < 12 and text[begin - 1] in DIGITS:
        begin -= 1
    if not 8 <= at - begin <= 11:
        return -1, place
    end, _ = joined(text, at + 1, URL, 34)
    return (begin, end) if end > 0 else (-1, place)


def _azure(text: str, at: int, place: int) -> tuple[int, int]:
    """A client secret has `Q~` in its fifth and sixth place."""
    begin = at - 4
    if begin < 0 or text[at - 1] not in DIGITS or not stands_apart(text, begin):
        return -1, place
    end, _ = joined(text, begin, _CLIENT_SECRET, 37)
    return (begin, end) if end > 0 else (-1, place)


def _mailchimp(text: str, at: int, place: int) -> tuple[int, int]:
    """Thirty-two hexadecimal digits and the name of a data centre."""
    begin = at - 32
    if begin < 0 or not text[place : place + 1].isdigit() or run(text, begin, HEX, 33) != 32:
        return -1, place
    return (begin, place + run(text, place, DIGITS, 2)) if stands_apart(text, begin) else (-1, place)


def _aws_secret(text: str, at: int, place: int) -> tuple[int, int]:
    """The secret that follows a key id, as in a file of credentials: forty mixed characters."""
    if not stands_apart(text, at) or run(text, at, WORD, 21) != 20:
        return -1, place
    beyond = text[at + 20 : at + 180]
    place = at + 20
    for piece in beyond.encode("ascii", "replace").decode().translate(_NOT_BASE64).split(" "):
        if len(piece) == 40 and has_digit(piece) and piece.lower() != piece != piece.upper():
            return place, place + 40
        place += len(piece) + 1
    return -1, at + 20


def _terraform(text: str, at: int, place: int) -> tuple[int, int]:
    if at < 14 or run(text, at - 14, WORD, 14) != 14:
        return -1, place
    end, _ = joined(text, place, URL + "=", 40)
    return (at - 14, end) if end > 0 else (-1, place)


# kind, mark, how to read on from there; marks of headers leave out the letter whose case changes
_FORMS: tuple[tuple[str, str, Reader], ...] = (
    ("private-key", "-----BEGIN", _private_key),
    ("private-key", "-----END", _end_of_key),
    ("private-key", "Private-Lines", _putty_key),
    ("jwt", "eyJ", _signed),
    ("url-password", "://", _address),
    ("authorization", "uthorization", _header),
    ("authorization", "UTHORIZATION", _header),
    ("authorization", "earer ", _bearer),
    ("authorization", "BEARER ", _bearer),
    ("cookie", "ookie:", _cookie),
    ("cookie", "COOKIE:", _cookie),
    ("password", " -u ", _curl_user),
    ("password", "--user ", _curl_user),
    ("password", "sshpass -p ", _sshpass),
    ("telegram", ":AA", _telegram),
    ("azure", "Q~", _azure),
    ("mailchimp", "-us", _mailchimp),
    ("aws", "AKIA", _aws_secret),
    ("aws", "ASIA", _aws_secret),
    ("terraform", ".atlasv1.", _terraform),
)
