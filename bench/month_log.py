"""A month of invented work on three projects: thirty sessions, about 800 tool events, twelve facts to remember.

What people ask and what agents say at the end of a turn is written by hand in `month_projects`, one file for each
project; the tool events between them are made from the files and functions that a turn names. The same seed gives the
same month. A fact is said once, in a prompt or in the middle of a closing message, and never in the last two sessions
of its project.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import told
from bench.product import Product

PROJECTS = ("berthbook", "seedcat", "chacang")
DAYS = 30
_SEED = 20
_FOLDER = Path(__file__).parent / "month_projects"
_DAY_MS, _MINUTE_MS = 86_400_000, 60_000
_WITHOUT_THANKS = 6  # sessions of thirty that end with work and not with "commit it"

Project = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """Something said once that a later prompt needs."""

    project: str
    key: str
    kind: str
    session: int  # of its project, from 1
    keys: tuple[tuple[str, ...], ...]  # one wording of each must stand in a text that tells it
    asks: str

    def stands_in(self, text: str) -> bool:
        """Whether a text tells it."""
        return all(told.holds(wordings, text) for wordings in self.keys)


@dataclass(frozen=True)
class Event:
    """One use of a tool; paths begin at the root of the repository."""

    tool: str
    given: Mapping[str, Any]
    answered: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """A prompt, what was done, and the closing message."""

    prompt: str
    events: tuple[Event, ...]
    closing: str


@dataclass(frozen=True)
class WorkSession:
    """One session on one day of the month."""

    project: str
    key: str
    number: int  # of its project, from 1
    day: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Stack:
    """How a kind of project is worked on."""

    test: str
    lint: str
    failed: str
    passed: str
    edits: tuple[tuple[str, str], ...]
    new_test: str


def project(name: str) -> Project:
    """What is written down about a project."""
    with (_FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def facts() -> list[Fact]:
    """All twelve, by project."""
    return [
        Fact(name, row["key"], row["kind"], row["session"], tuple(map(tuple, row["keys"])), row["asks"])
        for name in PROJECTS
        for row in project(name)["facts"]
    ]


def month() -> list[WorkSession]:
    """All sessions, oldest first: one a day, each project once in three days."""
    rng = random.Random(_SEED)
    written = {name: project(name) for name in PROJECTS}
    order = [name for _ in range(DAYS // len(PROJECTS)) for name in rng.sample(PROJECTS, len(PROJECTS))]
    plain = set(rng.sample(range(DAYS), _WITHOUT_THANKS))
    return [
        _session(rng, name, written[name], order[:day].count(name), day, thanks=day not in plain)
        for day, name in enumerate(order)
    ]


def _session(rng: random.Random, name: str, written: Project, place: int, day: int, *, thanks: bool) -> WorkSession:
    row, language, stack = written["sessions"][place], written["language"], STACKS[written["stack"]]
    turns = [_turn(rng, each, language, stack) for each in row["turns"]]
    if thanks:
        number = f"{rng.randrange(16**7):07x}"
        asked, answered = rng.choice(_THANKS[language])
        turns.append(Turn(asked, tuple(_commit(rng, row["commit"], number)), answered.format(number=number)))
    return WorkSession(name, f"{name}-{place + 1:02}", place + 1, day, tuple(turns))


def _turn(rng: random.Random, row: Mapping[str, Any], language: str, stack: Stack) -> Turn:
    tests = rng.randrange(38, 240)
    events = tuple(_events(rng, row, stack, tests))
    return Turn(row["prompt"], events, _closing(rng, row, language, stack, tests))


def _closing(rng: random.Random, row: Mapping[str, Any], language: str, stack: Stack, tests: int) -> str:
    """A message as agents end a turn with: headings, lists, checks and next steps around what is special."""
    said = _SAID[language]
    return str(rng.choice(said["layouts"])).format(
        lead=rng.choice(said["leads"]),
        did="\n".join(f"- {each}" for each in row["did"]),
        note=row["note"],
        checks=rng.choice(said["checks"]).format(tests=tests, test=stack.test, lint=stack.lint),
        files=said["joined"].join(f"`{path}`" for path in row["files"]),
        next="\n".join(f"- {each}" for each in row["next"]),
    )


def _events(rng: random.Random, row: Mapping[str, Any], stack: Stack, tests: int) -> Iterator[Event]:
    """Look, let a test fail, edit, test again."""
    files, names = row["files"], row["names"]
    hits = "\n".join(f"{path}:{rng.randrange(5, 180)}: {names[0]}" for path in files)
    yield Event("Grep", {"pattern": names[0], "path": "."}, {"mode": "content", "content": hits})
    for path in files:
        old, _ = (part.format(name=rng.choice(names), low=4, high=9) for part in rng.choice(stack.edits))
        yield Event("Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": old}})
    yield rng.choice((_shell("git log --oneline -3", _log(rng, names)), _shell("git status --short", f" M {files[0]}")))
    if rng.random() < 0.5:
        broken = stack.failed.format(name=names[-1], path=files[-1], rest=tests - 1, line=rng.randrange(12, 90))
        yield _shell(stack.test, broken, ok=False)
    for at in range(rng.randrange(3, 6)):
        path, name = files[at % len(files)], names[at % len(names)]
        if at == len(files) - 1 and "test" in path and rng.random() < 0.5:
            yield Event("Write", {"file_path": path, "content": stack.new_test.format(name=name)}, {"filePath": path})
            continue
        low = rng.randrange(2, 40)
        old, new = (part.format(name=name, low=low, high=low + 5) for part in rng.choice(stack.edits))
        yield Event("Edit", {"file_path": path, "old_string": old, "new_string": new}, {"filePath": path})
    for command, output, ok in row.get("runs", ()):
        yield _shell(command, output, ok=ok)
    if "runs" not in row:
        yield _shell(stack.test, stack.passed.format(tests=tests, seconds=rng.randrange(11, 95) / 10))
    yield _shell(stack.lint, "")
    stat = "\n".join(f" {path} | {rng.randrange(3, 60)} ++++--" for path in files)
    yield _shell("git diff --stat", f"{stat}\n {len(files)} files changed")


def _commit(rng: random.Random, message: str, number: str) -> Iterator[Event]:
    yield _shell("git add -A", "")
    changed = f"{rng.randrange(2, 7)} files changed, {rng.randrange(30, 220)} insertions(+)"
    yield _shell(f'git commit -m "{message}"', f"[main {number}] {message}\n {changed}")
    yield _shell("git push", f"   main -> main ({number})")


def _log(rng: random.Random, names: Sequence[str]) -> str:
    return "\n".join(f"{rng.randrange(16**7):07x} Touch {name}" for name in names)


def _shell(command: str, output: str, *, ok: bool = True) -> Event:
    answered = {"stdout": output, "stderr": "", "interrupted": False} if ok else {"error": output}
    return Event("Bash", {"command": command}, answered)


def replay(product: Product, session: WorkSession, now_ms: int) -> int:
    """Report the session as its hooks would have; returns how many tool events that were."""
    folder, name, key = product.checkout(session.project), session.project, session.key
    at = now_ms - (DAYS - session.day) * _DAY_MS
    reported = 0
    for number, turn in enumerate(session.turns):
        at += 5 * _MINUTE_MS
        product.report("session-init", name, key, at, f"{number}", prompt=turn.prompt)
        for event in turn.events:
            at += _MINUTE_MS
            given = dict(event.given)
            if "file_path" in given:
                given["file_path"] = f"{folder}/{given['file_path']}"
            product.report("observation", name, key, at, f"{number}-{reported}", tool_name=event.tool, tool_input=given,
                           tool_response=event.answered, tool_use_id=f"{key}/{reported}")  # fmt: skip
            reported += 1
        at += _MINUTE_MS
        product.report("summarize", name, key, at, f"{number}-end", last_assistant_message=turn.closing)
    product.report("session-complete", name, key, at + _MINUTE_MS, "end")
    return reported


_SAID: Mapping[str, Mapping[str, Any]] = {
    "en": {
        "joined": ", ",
        "leads": (
            "That is done, and everything around it still works.",
            "Done. It turned out to be a small change in few places.",
            "This works now; here is what I did and what I looked at.",
            "I went through it step by step, and it behaves as you described.",
            "Finished. Nothing outside of these files had to change.",
        ),
        "checks": (
            "All {tests} tests pass with `{test}`, and `{lint}` has nothing to say.",
            "I ran `{test}` ({tests} passed) and `{lint}`, both clean.",
            "`{test}`: {tests} passed, none skipped. `{lint}`: no findings.",
        ),
        "layouts": (
            "{lead}\n\n## What changed\n{did}\n\n## Notes\n{note}\n\n## Checks\n{checks} Files: {files}.\n\n"
            "## Next steps\n{next}\n",
            "{lead}\n\n**Changes**\n\n{did}\n\n**Verification**\n\n{checks}\n\n{note}\n\nTouched: {files}.\n\n"
            "**Possible next steps**\n\n{next}\n",
            "{lead} I touched {files}.\n\n### Summary\n{did}\n\n{note}\n\n### Tests\n{checks}\n\n"
            "### If you want to go on\n{next}\n\nTell me if something should look different.",
        ),
    },
    "zh": {
        "joined": "、",
        "leads": (
            "已经完成，周围的功能都照常工作。",
            "做好了，改动不大，集中在少数几个地方。",
            "现在可以用了，下面说明做了什么、检查了什么。",
            "按照你的描述一步一步做完了，行为和预期一致。",
            "完成。除了下面这些文件，其他地方都没有改动。",
        ),
        "checks": (
            "执行了 `{test}`，{tests} 个测试全部通过；`{lint}` 没有任何提示。",
            "`{test}` 通过 {tests} 个，没有跳过的；`{lint}` 也是干净的。",
            "测试 {tests} 个全部通过（`{test}`），静态检查 `{lint}` 没有发现问题。",
        ),
        "layouts": (
            "{lead}\n\n## 改动\n{did}\n\n## 说明\n{note}\n\n## 检查\n{checks}涉及的文件：{files}。\n\n"
            "## 下一步\n{next}\n",
            "{lead}\n\n**做了什么**\n\n{did}\n\n**验证**\n\n{checks}\n\n{note}\n\n改动的文件：{files}。\n\n"
            "**可以接着做的**\n\n{next}\n",
            "{lead}改动的文件有{files}。\n\n### 小结\n{did}\n\n{note}\n\n### 测试\n{checks}\n\n"
            "### 如果要继续\n{next}\n\n有什么需要调整的地方请告诉我。",
        ),
    },
}

_THANKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("great, commit and push", "Committed as `{number}` and pushed to main."),
        ("looks good, commit it please", "Done: `{number}` is on main."),
        ("ok thanks, push it", "Pushed as `{number}`. The working tree is clean."),
        ("perfect, that's it for today. commit", "Committed and pushed (`{number}`). See you."),
    ),
    "zh": (
        ("可以，提交吧", "已提交并推送，提交号 `{number}`。"),
        ("没问题，推上去", "已经推到主分支，`{number}`，工作区是干净的。"),
        ("好的，今天先到这里，提交", "提交好了，`{number}`，已推送。"),
    ),
}

STACKS = {
    "python": Stack(
        "pytest -q", "ruff check .",
        "E       AssertionError: {name} gave the wrong value\n{path}:{line}: AssertionError\n"
        "FAILED {path}::test_{name} - AssertionError\n1 failed, {rest} passed in 3.11s",
        "{tests} passed in {seconds}s",
        (
            ("def {name}(booking):\n    return booking.nights * {low}\n",
             "def {name}(booking, *, at):\n    return sum(night.rate for night in booking.nights_at(at))\n"),
            ("    if {name} > {low}:\n        raise ValueError(\"too many\")\n",
             "    if {name} >= {high}:\n        raise ValueError(f\"{{{name}}} of at most {high}\")\n"),
            ("    rows = session.execute(query).all()\n",
             "    rows = session.execute(query.limit({high})).all()\n    log.debug(\"{name}: %d rows\", len(rows))\n"),
            ("from berthbook.models import Booking\n",
             "from berthbook.models import Berth, Booking\n\n\nclass {name}Problem(Exception):\n    pass\n"),
            ("def test_{name}(client):\n    assert client.get(\"/\").status_code == 200\n",
             "def test_{name}(client, berth):\n    answer = client.get(f\"/berths/{{berth.id}}\")\n"
             "    assert answer.json()[\"count\"] == {low}\n"),
        ),
        "import pytest\n\nfrom berthbook import app\n\n\ndef test_{name}_of_one_night():\n    assert app.{name}(1)\n"
        "\n\ndef test_{name}_refuses_nothing():\n    with pytest.raises(ValueError):\n        app.{name}(0)\n",
    ),
    "typescript": Stack(
        "pnpm test", "pnpm lint",
        " FAIL  {path} > {name} > keeps what was chosen\nAssertionError: expected 1 to be 2\n"
        " ❯ {path}:{line}:18\n Tests  1 failed | {rest} passed",
        " Tests  {tests} passed ({tests})\n Duration  {seconds}s",
        (
            ("export function {name}(input: string) {{\n  return input.trim();\n}}\n",
             "export function {name}(input: string, most = {high}) {{\n  return input.trim().slice(0, most);\n}}\n"),
            ("  const [{name}Open, setOpen] = useState(false);\n",
             "  const [{name}Open, setOpen] = useState(() => readOpen(\"{name}\"));\n  useEffect(() => close, []);\n"),
            ("  if (rows.length > {low}) return null;\n",
             "  if (rows.length >= {high}) return <Empty of=\"{name}\" />;\n"),
            ("import {{ api }} from \"../api\";\n",
             "import {{ api, type Variety }} from \"../api\";\n\nexport type {name}Props = {{ items: Variety[] }};\n"),
            ("  await db.insert(row);\n", "  await db.transaction((tx) => {name}(tx, row, {{ retries: {low} }}));\n"),
        ),
        "import {{ expect, test }} from \"vitest\";\nimport {{ {name} }} from \"./index\";\n\n"
        "test(\"{name} takes an empty list\", () => {{\n  expect({name}([])).toEqual([]);\n}});\n",
    ),
    "go": Stack(
        "go test ./...", "go vet ./...",
        "--- FAIL: Test{name} (0.01s)\n    {path}:{line}: {name}: got 3, want 4\nFAIL\tchacang\t0.2s ({rest} ok)",
        "ok  \tchacang/internal\t{seconds}s\t({tests} tests)",
        (
            ("func {name}(ctx context.Context) error {{\n\treturn nil\n}}\n",
             "func {name}(ctx context.Context, limit int) error {{\n\tif limit > {high} {{\n\t\treturn errLimit\n\t}}\n"
             "\treturn nil\n}}\n"),
            ("\trows, err := db.Query(q)\n", "\trows, err := db.QueryContext(ctx, q, {low})\n\tdefer rows.Close()\n"),
            ("\t// 待补充\n", "\t// {name}：超过 {high} 条时分批处理\n\tfor _, part := range chunk(items, {high}) {{\n"
             "\t\tapply(part)\n\t}}\n"),
            ("\tif err != nil {{\n\t\treturn err\n\t}}\n",
             "\tif err != nil {{\n\t\treturn fmt.Errorf(\"{name}: %w\", err)\n\t}}\n"),
            ("type {name}Options struct {{\n\tLimit int\n}}\n",
             "type {name}Options struct {{\n\tLimit int\n\tSince time.Time\n}}\n"),
        ),
        "package internal\n\nimport \"testing\"\n\nfunc Test{name}Empty(t *testing.T) {{\n"
        "\tif err := {name}(t.Context(), 0); err != nil {{\n\t\tt.Fatal(err)\n\t}}\n}}\n",
    ),
}  # fmt: skip
