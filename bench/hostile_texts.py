"""Texts made to be slow for the rules that mask: a unit of each family, repeated, at least thirty of each."""

# ruff: noqa: RUF001

from __future__ import annotations

from codexmem.kernel.model import secret_forms, secret_labels, secret_tokens

SIZE = 1 << 16  # characters

_TOKENS = sorted({
    *(row[1] for row in secret_tokens.TOKENS), *(row[1] + row[2][:3] * 9 for row in secret_tokens.TOKENS[::4]), "SG.",
    "SKa", "ghp_aaaa\n", "ghp_aB3456789\n", "sk-ant-" + "aB3" * 9 + "\n", "pat.", "re_re_", 'ghp_aaaa" + "', "key-a\n",
    "sk-aaaa\n", "xoxb-a", "AIza" + "a" * 34, "a" * 64, "a1", "_", "-", "\0", "\n", " ",
})  # fmt: skip
_FORMS = sorted({
    *(row[1] for row in secret_forms._FORMS), "://a:b@", "://a", "://" + "a" * 30, "eyJ.", "eyJ" + "a" * 30,
    "eyJa.eyJ", "eyJ" + "a1" * 20 + "\n", "-----BEGIN X PRIVATE KEY-----", "-----BEGIN -----",
    "-----END PRIVATE KEY-----", "Bearer a1", "authorization:", "authorization: bearer ", "Authorization=",
    "cookie: a=", "cookie:", "0123456789:AA", "8Q~", "a8Q~", "AKIA" + "A" * 16 + " ", "AKIA" + "A1" * 8 + ",",
    "curl -u ", "curl -u a:", "0" * 32 + "-us1", "-us1", "a" * 14 + ".atlasv1.", "Private-Lines", "-----", ":", "@",
    "/", "%", "%2F", "%3D%3A", "%zz", "password%3D", "password%3Da1%26", "%3A%2F%2Fa%3Ab%40", "token%22",
    "ghp_%2F", "a%2Fb",
})  # fmt: skip
_LABELS = sorted({
    *secret_labels.WORDS, "password=", "password: ", 'password="', "password='a", "password is ", "token = a",
    "token=", "SharedAccessKey=", "<password>", "password\\\"", "a" * 60 + "token", "token" + "_" * 60,
    "secret_token_key_password ", "password: str = ", "密码是", "密码：a1", "token:a.b.c.d ", "İpassword",
    "--password ", "api_key=" + "a" * 300 + "\n", "x" * 30 + "pwd=1 ", "token" * 3 + "=", "password=a1,", "Token",
    "PASSWORD", "secret=[", "token=$",
})  # fmt: skip
_PERSONAL = sorted({
    "@", "a@", "@a", "a@b", "a@b.c", "a.b@c.d ", "a@b.com", "a" * 64 + "@", "a@" + "b." * 60, "1", "1.", "1.1.1.1.",
    "1-", "1 ", "+1", "(1)", "138", "13800138000", "0" * 63, "0" * 64, "4111 ", "4" * 19 + " ", "1.2.3.4 ", "999.",
    ":", "::", "a:", "fe80::", "1:2:3:4:5:6:7:", "/home/", "/home/a", "/Users/a/", "\\Users\\", "a1B",
    "aB1" * 12 + " ", "aB1" * 20, "中", "中1", "x1", "1x", "-1",
})  # fmt: skip
FAMILIES: dict[str, list[str]] = {"tokens": _TOKENS, "forms": _FORMS, "labels": _LABELS, "personal": _PERSONAL}


def text_of(unit: str, size: int = SIZE) -> str:
    """The unit, repeated to exactly this length."""
    return (unit * (size // len(unit) + 1))[:size]
