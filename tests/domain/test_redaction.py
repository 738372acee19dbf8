"""Secrets are masked wherever they stand, ordinary text is left alone, and no text takes long."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model import redaction, secret_forms, secret_labels, secret_tokens
from codexmem.kernel.model.redaction import redact, redact_value
from tests.domain.secrets_made_up import SHAPES, made


@pytest.mark.parametrize("kind, shape", SHAPES)
def test_every_format_is_named(kind: str, shape: str) -> None:
    secret = made(shape, random.Random(shape))
    assert redact(secret.text).endswith(f"[REDACTED:{kind}]")


def test_there_are_sixty_kinds() -> None:
    kinds = {row[0] for row in secret_tokens.TOKENS} | {kind for kind, _ in SHAPES}
    assert len(kinds) >= 60


@pytest.mark.parametrize("shape", ["ghp_{w:36}", "sk-ant-api03-{u:93}", "glpat-{u:20}", "xoxb-{d:12}-{d:12}-{w:24}"])
@pytest.mark.parametrize("gap", ["\n", "\r\n    ", " \\\n  ", '" +\n    "', '" + "'])
def test_a_token_in_two_pieces_is_masked(shape: str, gap: str) -> None:
    secret = made(shape, random.Random(gap)).text
    middle = len(secret) * 2 // 3 if "xoxb" not in shape else 10
    left = redact(f"a {secret[:middle]}{gap}{secret[middle:]} b")
    assert secret[:middle] not in left
    assert secret[middle:] not in left


def test_the_next_line_of_a_log_is_no_piece_of_a_token() -> None:
    secret = made("glpat-{u:20}", random.Random(3)).text
    log = f"token {secret}\n2026-03-04T10:15:00Z next-line-of-the-log"
    assert redact(log) == "token [REDACTED:gitlab]\n2026-03-04T10:15:00Z next-line-of-the-log"


def test_text_in_two_bytes_per_letter_is_masked() -> None:
    secret = made("ghp_{w:36}", random.Random(1)).text
    wide = f"key {secret}".encode("utf-16-le").decode("latin-1")
    assert redact(wide) == "key [REDACTED:github]"


def test_escapes_of_an_address_hide_nothing() -> None:
    assert redact("q=%22password%22%3A%22x9!z%22&n=1") == "q=%22password%22%3A%22[REDACTED:password]%22&n=1"
    assert (
        redact("u=postgres%3A%2F%2Fapp%3As3cret%40db%2Fx")
        == "u=postgres%3A%2F%2Fapp%3A[REDACTED:url-password]%40db%2Fx"
    )
    assert redact("100%25 of %20s and %d%%") == "100%25 of %20s and %d%%"


MASKED = {
    "environment": ("DB_PASSWORD=hunter22", "DB_PASSWORD=[REDACTED:password]"),
    "environment, letters only": ("PASSWORD=letmein", "PASSWORD=[REDACTED:password]"),
    "environment, quoted": ("export SECRET_KEY='k3y-of-mine'", "export SECRET_KEY='[REDACTED:api-key]'"),
    "JSON": ('{"password": "x9!z"}', '{"password": "[REDACTED:password]"}'),
    "JSON in JSON": ('{\\"api_key\\": \\"abc123def456\\"}', '{\\"api_key\\": \\"[REDACTED:api-key]\\"}'),
    "Python": ('password: str = "abc123"', 'password: str = "[REDACTED:password]"'),
    "subscript": ('config["token"] = "abc123def456"', 'config["token"] = "[REDACTED:token]"'),
    "TypeScript": ("const apiKey = 'a1b2c3d4e5f6'", "const apiKey = '[REDACTED:api-key]'"),
    "Go": ('token := "a1b2c3d4e5f6"', 'token := "[REDACTED:token]"'),
    "Ruby": (":password => 'a1b2c3'", ":password => '[REDACTED:password]'"),
    "YAML": ("  password: hunter2\n  user: me", "  password: [REDACTED:password]\n  user: me"),
    "properties": ("spring.datasource.password=p4ss", "spring.datasource.password=[REDACTED:password]"),
    "XML": ("<password>hunter2</password>", "<password>[REDACTED:password]</password>"),
    "flag": ("tool --password letmein --x", "tool --password [REDACTED:password] --x"),
    "flag with equals": ("tool --api-key=abc123def456", "tool --api-key=[REDACTED:api-key]"),
    "query": ("/login?user=me&password=letmein&x=1", "/login?user=me&password=[REDACTED:password]&x=1"),
    "command": ("ls password=hunter22 -l", "ls password=[REDACTED:password] -l"),
    "number": ("password: 12345678", "password: [REDACTED:password]"),
    "spoken": ("my password is Foo123!", "my password is [REDACTED:password]"),
    "Chinese": ("密码：Hunter2!x", "密码：[REDACTED:password]"),
    "Chinese, spoken": ("数据库口令是 abc123，端口 5432", "数据库口令是 [REDACTED:password]，端口 5432"),
    "Chinese, traditional": ("密碼: a1b2c3", "密碼: [REDACTED:password]"),
    "Chinese, token": ("访问令牌：a1b2c3d4e5f6g7", "访问令牌：[REDACTED:token]"),
    "markdown": ("**Password**: hunter2", "**Password**: [REDACTED:password]"),
    "AWS": (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = [REDACTED:api-key]",
    ),
    "AWS, a file of credentials": (
        "AKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "[REDACTED:aws],[REDACTED:aws]",
    ),
    "database": ("postgres://app:s3cret@db:5432/x", "postgres://app:[REDACTED:url-password]@db:5432/x"),
    "database, sign in the password": ("redis://:p@ss@h/0", "redis://:[REDACTED:url-password]@h/0"),
    "mongo": ("mongodb+srv://u:pw1@c.example.org/", "mongodb+srv://u:[REDACTED:url-password]@c.example.org/"),
    "git": ("https://x-token:abc123@github.com/a/b", "https://x-token:[REDACTED:url-password]@github.com/a/b"),
    "bearer": ("Authorization: Bearer abc.def-123", "Authorization: Bearer [REDACTED:authorization]"),
    "basic": ('"Authorization": "Basic dXNlcjpwYXNz"', '"Authorization": "Basic [REDACTED:authorization]"'),
    "bearer alone": ("-> Bearer 0a1b2c3d4e5f6a7b", "-> Bearer [REDACTED:authorization]"),
    "lower-case header": ("authorization: token 0a1b2c3d4e5f", "authorization: token [REDACTED:authorization]"),
    "cookie": ("Cookie: sid=0a1b2c3d4e5f; x=1\nHost: h", "Cookie: [REDACTED:cookie]\nHost: h"),
    "header of a key": ("X-Api-Key: 0a1b2c3d4e5f", "X-Api-Key: [REDACTED:api-key]"),
    "curl": ("curl -u me:pa55 https://h/", "curl -u me:[REDACTED:password] https://h/"),
    "sshpass": ("sshpass -p pa55 ssh h", "sshpass -p [REDACTED:password] ssh h"),
    "key without its end": ("a -----BEGIN PRIVATE KEY-----\nMIIE", "a [REDACTED:private-key]"),
    "key without its beginning": ("MIIE\nabc\n-----END PRIVATE KEY-----\nb", "[REDACTED:private-key]\nb"),
    "service account": (
        '{"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n", "x": 1}',
        '{"private_key": "[REDACTED:private-key]\\n", "x": 1}',
    ),
}


@pytest.mark.parametrize("case", MASKED)
def test_labelled_secrets_are_masked(case: str) -> None:
    text, left = MASKED[case]
    assert redact(text) == left
    assert redact(left) == left


UNTOUCHED = [
    "commit ec99b69f3c1d5a7b9e8d7c6b5a4f3e2d1c0b9a87",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-q1MZZzpoaC0qrkB7kG5lNwUFl2FJ5hPvZ3i6v8Kkq0PJyQ2JpVQ6mQ=="',
    "/usr/lib/python3.11/site-packages/token.py",
    r"C:\Users\me\secrets\token.txt",
    "PWD=/home/me/work",
    "OLDPWD=/home/me",
    "password = getpass.getpass()",
    "password: string;",
    "token: str | None = None",
    "self.token = token",
    "const token = await getToken()",
    "api_key = os.environ['API_KEY']",
    "apiKey: process.env.API_KEY,",
    "PASSWORD=${DB_PASSWORD}",
    "password: {{ vault.password }}",
    "token=<your token>",
    'api_key = "YOUR_API_KEY"',
    '"password": "********"',
    '{"type": "string", "description": "the access token"}',
    '<input type="password" name="password" required>',
    '"password": "Password"',
    '"label.password": "Enter your password"',
    "login(user, password=pw)",
    "login(user, password=password2, retry=True)",
    "login(\n    password=password2,\n)",
    "connect(token=token, secret=secret)",
    "max_tokens=4096",
    "usage: prompt_tokens 12345678, completion_tokens 123",
    "nextPageToken: CAUQAA0987654321",
    "pad_token = '<pad>'",
    "the password is required",
    "a secret is something you keep",
    "if token != expected_token_1:",
    "the token expires at 2026-11-15T10:00:00Z",
    "task-force-abc123 and risk-based sk-circle",
    "the asterisk-prefixed skeleton SKU",
    "git@github.com:owner/repo.git",
    "ssh://git@github.com:22/owner/repo.git",
    "https://example.org:8443/a@b",
    "mailto:someone@example.org",
    "http://localhost:37877/api/health",
    "postgresql://user:$PASSWORD@host/db",
    "Authorization: Bearer $TOKEN",
    "Bearer token authentication is used here",
    "Basic authentication",
    "请设置密码：至少8位，包含字母",
    "忘记密码？点击重置密码链接",
    "令牌已过期，请重新登录",
    "口令：请输入",
    "这个函数返回一个 token，然后写入缓存",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "keyboard, monkey-patch, turkey-1234",
    "def test_password_reset_token_is_single_use() -> None:",
    "secretName: tls-cert-2026",
    "import secrets\nsecrets.token_hex(16)",
    "TOKEN_LIMIT = 200000",
    "class TokenBucket(rate=100): ...",
    "cookie: the recipe",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["pdfshift ACCESS {h:32}", "deepgram-token {h:40}", "clockify SECRET {l:48}", "scaleway private key: {h:32}",
     "boxes\nshodanKEY-{w:32}", "azure devops pat = {l:52}", "uptime robot key {h:32}", "mailjetSECRET {h:32}"],
)  # fmt: skip
def test_a_key_behind_the_name_of_its_service_is_masked(text: str) -> None:
    chance = random.Random(text)
    secret = made(text[text.index("{") :], chance)
    assert not secret.is_left_in(redact(f"see {text[: text.index('{')]}{secret.text}, says the wiki"))


@pytest.mark.parametrize(
    "text",
    ["the netlify key is in the vault", "fastly access logs rotate daily at 03:00", "vercel token rotation 2026-11-19",
     "sonar key metrics: src/main/java/org/example/Metrics1.java", "twilio_key = settings.twilio_key",
     "cloudflare access for 10.1.2.3", "stripe secret_manager/projects", "segment key 3f2a91c04b"],
)  # fmt: skip
def test_the_name_of_a_service_masks_nothing_by_itself(text: str) -> None:
    assert redact(text) == text


def test_a_value_under_the_key_of_a_service_is_masked() -> None:
    assert redact_value({"shodan_key": "abcdefgh", "fastly": "a", "monkey": "b"}) == {
        "shodan_key": "[REDACTED:api-key]", "fastly": "a", "monkey": "b",
    }  # fmt: skip


def test_our_own_source_is_left_alone() -> None:
    """Every line of our source but those that spell out an example."""
    from pathlib import Path

    import codexmem

    texts = [path.read_text() for path in Path(codexmem.__file__).parent.rglob("*.py")]
    count = sum(text.count("\n") for text in texts)
    suspects = [line for text in texts if redact(text) != text for line in text.splitlines()]
    changed = [line for line in suspects if redact(line) != line]
    assert count > 5_000
    assert len(changed) <= count // 1_000, changed


def test_values() -> None:
    value: dict[str, Any] = {
        "command": "curl -H 'Authorization: Bearer 0a1b2c3d4e5f6a7b' https://h/",
        "password": "x",
        "headers": {"Authorization": "Bearer x", "Accept": "*/*", "Cookie": "a=b"},
        "env": [{"name": "API_KEY", "value": "abc"}, {"name": "PATH", "value": "/bin"}],
        "credentials": {"user": "me", "pin": 1},
        "token": 5,
        "tokens": 7,
        "has_password": True,
        "pwd": None,
        "secret": "",
        "端口": 8123,
        f"ghp_{'a1' * 18}": 1,
        "n": [1, 2.5, None, False],
    }
    assert redact_value(value) == {
        "command": "curl -H 'Authorization: Bearer [REDACTED:authorization]' https://h/",
        "password": "[REDACTED:password]",
        "headers": {"Authorization": "[REDACTED:authorization]", "Accept": "*/*", "Cookie": "[REDACTED:authorization]"},
        "env": [{"name": "API_KEY", "value": "[REDACTED:api-key]"}, {"name": "PATH", "value": "/bin"}],
        "credentials": "[REDACTED:secret]",
        "token": 5,
        "tokens": 7,
        "has_password": True,
        "pwd": None,
        "secret": "",
        "端口": 8123,
        "[REDACTED:github]": 1,
        "n": [1, 2.5, None, False],
    }
    assert redact_value(redact_value(value)) == redact_value(value)


def test_a_number_behind_a_password_is_masked() -> None:
    assert redact_value({"password": 123456}) == {"password": "[REDACTED:password]"}


def test_nesting_without_end_is_cut() -> None:
    value: Any = "password=hunter22"
    for _ in range(500):
        value = {"a": value}
    made = redact_value(value)
    for _ in range(redaction.DEEPEST):
        made = made["a"]
    assert made == redaction.TOO_DEEP


def test_known_secrets_are_masked_in_every_spelling() -> None:
    known = "correct horse/battery"
    encoded = base64.b64encode(known.encode()).decode()
    text = f"a {known} b {encoded} c correct%20horse%2Fbattery d"
    assert redact(text, known=[known]) == "a [REDACTED:known] b [REDACTED:known]= c [REDACTED:known] d".replace(
        "]=", "]" + "=" * encoded.count("=")
    )
    assert redact_value({"x": [known]}, known=[known]) == {"x": ["[REDACTED:known]"]}
    assert redact("a short one", known=["short"]) == "a short one"


def test_a_rule_that_is_not_loaded_cannot_match() -> None:
    """The marks that decide what is loaded cover every rule."""
    for word in secret_labels.WORDS:
        assert any(mark in word for mark in redaction._LABEL_MARKS), word
    for ending, _ in secret_labels._ENDINGS:
        assert any(mark in ending for mark in redaction._LABEL_MARKS), ending
    for _, mark, _ in secret_forms._FORMS:
        assert mark in redaction._FORM_MARKS, mark


@pytest.mark.process
def test_plain_text_loads_no_rules_and_no_regular_expressions() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from codexmem.kernel.model.redaction import redact, redact_value\n"
        "redact_value({'tool': 'Bash', 'input': {'command': 'ls -la src'}, 'response': 'a.py  b.py\\n' * 50})\n"
        "loaded = {'re', 'typing', 'dataclasses', 'enum', 'codexmem.kernel.model.secret_labels'} & set(sys.modules)\n"
        "redact('password=hunter22 https://a:b1@c')\n"
        "sys.exit(repr(loaded | {'re', 'typing', 'enum'} & set(sys.modules)) if loaded or 're' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, env={
        "PYTHONPATH": str(__import__("pathlib").Path(redaction.__file__).parents[3])
    })  # fmt: skip
    assert done.returncode == 0, done.stderr


PIECES = st.sampled_from([
    "password", "=", ":", " ", '"', "'", "token", "secret", "api_key", "密码", "：", "abc123", "hunter2!", "sk-",
    "%3D", "%22", "%2F", "%",
    "ghp_", "a1" * 20, "://", "@", "Bearer ", "Authorization", "-----BEGIN ", "PRIVATE KEY-----", "-----END", "eyJ",
    ".", "\n", "[REDACTED:password]", "\\", "--", "{", "(", "İ", "\0", "AKIA", "是", "ghp_aaaa",
])  # fmt: skip


@given(st.lists(PIECES, max_size=16).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def seconds(call: Callable[[], object]) -> float:
    """Of this thread alone, whatever else the machine does."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def test_a_text_of_labels_alone_is_given_up() -> None:
    text = "password " * 20_000
    assert redact(text).endswith("[REDACTED:too-dense]")


def test_ordinary_text_is_fast() -> None:
    from pathlib import Path

    from codexmem.kernel import store

    text = "\n".join(path.read_text() for path in Path(store.__file__).parent.glob("*.py")) * 4
    assert len(text) > 200_000
    assert len(text) / min(seconds(lambda: redact(text)) for _ in range(3)) > 1_000_000  # characters a second
