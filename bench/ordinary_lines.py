"""Ordinary lines, in which nothing should be masked: code of the standard library and of installed packages, and logs.

The same packages and the same seed give the same lines. Folders of tests are left out, because people put made-up
secrets there on purpose, and so are lines of more than 400 characters, which nobody wrote. Logs are made here: what
servers, test runners, package managers and version control print, full of hashes, ids and times.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import base64
import random
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 100  # lines that are taken from one file
_LONGEST = 400
_SUFFIXES = (".py", ".pyi", ".js", ".ts", ".toml", ".cfg", ".md", ".rst", ".c", ".h")


_WORDS = ("user", "order", "token", "session", "password", "cache", "worker", "secret", "index", "apikey", "login",
          "auth", "page")  # fmt: skip


def code(count: int, seed: int) -> tuple[list[str], dict[str, int]]:
    """So many lines of code, and how many of them each place gave."""
    chance = random.Random(seed)
    places = {"standard library": Path(sysconfig.get_paths()["stdlib"]), "packages": _packages()}
    lines: list[str] = []
    given: dict[str, int] = {}
    for name, place in places.items():
        mine: list[str] = []
        for path in chance.sample(files := _files(place), len(files)):
            mine += _block(path, chance)
            if len(mine) >= count // len(places):
                break
        given[name] = len(mine[: count // len(places)])
        lines += mine[: count // len(places)]
    return lines, given


def _packages() -> Path:
    return next(Path(each) for each in sys.path if each.endswith("site-packages"))


def _files(place: Path) -> list[Path]:
    skipped = {"test", "tests", "testing", "site-packages", "__pycache__", "codexmem", "node_modules", "idlelib"}
    return sorted(
        path
        for path in place.rglob("*")
        if path.suffix in _SUFFIXES and not skipped & set(path.relative_to(place).parts) and path.is_file()
        if not path.name.startswith(("test_", "conftest"))
    )


def _block(path: Path, chance: random.Random) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    begin = chance.randrange(max(1, len(lines) - _BLOCK))
    return [line for line in lines[begin : begin + _BLOCK] if line.strip() and len(line) <= _LONGEST]


def logs(count: int, seed: int) -> list[str]:
    """So many lines of logs."""
    made = _logs(random.Random(seed))
    return [next(made) for _ in range(count)]


def _logs(chance: random.Random) -> Iterator[str]:
    def digits(count: int) -> str:
        return "".join(chance.choice("0123456789abcdef") for _ in range(count))

    def uuid() -> str:
        return "-".join(digits(count) for count in (8, 4, 4, 4, 12))

    def word() -> str:
        return chance.choice(_WORDS)

    def base(count: int) -> str:
        return base64.b64encode(chance.randbytes(count)).decode()

    while True:
        at = f"2026-0{chance.randint(1, 9)}-{chance.randint(10, 28)}T{chance.randint(10, 23)}:{chance.randint(10, 59)}"
        number, ms, name = chance.randint(1, 99_999), chance.randint(1, 5_000), word()
        yield f'10.2.{number % 255}.7 - - [{at}] "GET /api/v1/{name}s/{number} HTTP/1.1" 200 {ms} "-" "curl/8.5.0"'
        yield f'{{"ts":"{at}Z","level":"info","msg":"{name} refreshed","trace_id":"{digits(32)}","ms":{ms}}}'
        yield f"{at},{ms:03d} INFO [worker-{number % 16}] handled {name} id={uuid()} status=ok attempts={number % 4}"
        yield f"{at}Z WARN  {name} cache miss key={name}:{number} ttl=300 region=eu-west-1"
        yield f"commit {digits(40)}"
        yield f"{digits(7)} Fix {name} handling in the {word()} service (#{number})"
        yield f"   {digits(8)}..{digits(8)}  main -> origin/main"
        yield f"{digits(12)}: Pull complete; Digest: sha256:{digits(64)}"
        yield f'      "integrity": "sha512-{base(64)}",'
        yield f"tests/{name}/test_{word()}.py::test_{name}_{word()}_is_refused PASSED [{number % 100:3d}%]"
        yield f'  File "/usr/lib/python3.11/site-packages/{name}/{word()}.py", line {number}, in get_{name}'
        yield f"{name.title()}Error: invalid {name} for {word()} {number}: expected str, got NoneType"
        yield f"[{number}.{ms:06d}] eth0: link up, 1000 Mbps, MAC 02:42:ac:11:00:{digits(2)}"
        yield f"pod/{name}-{digits(10)}-{base(3)[:4].lower()} 1/1 Running 0 {number % 90}d"
        yield f'level=info msg="{name} validated" user_id={number} request_id={uuid()} took={ms}ms'
        yield f"Downloading {name}-{number % 9}.{number % 7}.0-py3-none-any.whl ({ms} kB) --hash=sha256:{digits(64)}"
        yield f"max_{name}s={number} {name}_count={ms} prompt_tokens: {number}, completion_tokens: {ms}"
        yield f'ETag: W/"{digits(16)}"  Content-Length: {number}  X-Request-Id: {uuid()}'
        yield f"{at} 用户 {number} 登录成功，令牌已刷新，有效期 {ms} 秒"
        yield f"{at} [订单服务] 密码校验通过 user={number} 耗时={ms}ms"
        yield f"sshd[{number}]: Failed password for invalid user admin from 203.0.113.{number % 255} port {ms + 1024}"
        yield f"Warning: {name} {word()} will expire in {number % 30} days; rotate it with `{name} rotate --all`"
        yield f"  {name}: {{type: string, description: The {word()} of the {name}}}"
        yield f"data:image/png;base64,{base(60)}"
        yield f"arn:aws:iam::{digits(12)}:role/{name}-reader arn:aws:s3:::bucket-{digits(8)}"
