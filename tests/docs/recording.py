"""The terminal session of the README: real commands in a real terminal, with real Codex at work in between.

`just record-terminal` runs them in an empty home and writes what was printed as `docs/images/first-minute*.svg`, which
plays in a browser, and as `.cast`, which `asciinema play` plays. Codex's model is scripted; nothing else is. Waits are
cut to a second in the picture; the `.cast` has them as they were.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fcntl import ioctl
from io import StringIO
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests._support.scripted_model import Call, Say, ScriptedModel
from tests.agents import story
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.person import PROGRAMS, SERVER, Person
from tests.agents.test_install_agents import SOURCES, free_port
from tests.docs.terminal import HOME, PORT

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COLUMNS, ROWS = 104, 200
LONGEST_WAIT_S = 1.0
TYPED_S = 0.035  # a character, as a person types
# The words that are typed; one without a dollar happens off stage.
SCRIPT = {
    "en": (
        "codexmem init",
        "codexmem install --detect --yes",
        f"# … Codex works: “{story.PROMPT}”",
        "codexmem search payment gateway",
        "codexmem why 4",
        "codexmem undo session:2 --yes",
        "codexmem uninstall --yes",
    ),
    "zh": (
        "codexmem init",
        "codexmem install --detect --yes",
        f"# …… Codex 在工作：“{story.PROMPT}”",
        "codexmem search payment gateway",
        "codexmem why 4",
        "codexmem undo session:2 --yes",
        "codexmem uninstall --yes",
    ),
}
_DIFF = re.compile(r"(^@@[^\n]*\n(?:[ +-][^\n]*\n){7})((?:[ +-][^\n]*\n){5,})", re.MULTILINE)
LANG = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}


@dataclass
class Recording:
    """What appeared on the screen, and when: seconds and text."""

    events: list[tuple[float, str]] = field(default_factory=list)
    at: float = 0.0

    def show(self, text: str, wait: float = 0.0) -> None:
        """More text, so long after the last."""
        self.at = round(self.at + wait, 3)
        self.events.append((self.at, text))

    def type(self, command: str) -> None:
        """A prompt and a person's keys."""
        self.show("\x1b[1;32m$\x1b[0m ", 0.6)
        for character in command:
            self.show(character, TYPED_S)
        self.show("\r\n", 0.2)

    def cast(self) -> str:
        """In the second version of asciinema's format."""
        header = {"version": 2, "width": COLUMNS, "height": 30, "idle_time_limit": LONGEST_WAIT_S}
        lines = [json.dumps(header), *(json.dumps([at, "o", text], ensure_ascii=False)
                                       for at, text in self.events)]  # fmt: skip
        return "\n".join(lines) + "\n"

    def lines(self) -> list[tuple[float, str]]:
        """The finished lines and when each began to show, with long waits cut."""
        found: list[tuple[float, str]] = []
        shown, last, line, began = 0.0, 0.0, "", None
        for at, text in self.events:
            shown += min(at - last, LONGEST_WAIT_S)
            last = at
            for piece in re.split(r"(\n)", text.replace("\r\n", "\n")):
                if piece == "\n":
                    # Of a line that was written over again, as progress is, the last state; cursors are not drawn.
                    kept = re.sub(r"\x1b\[\?25[lh]", "", line).split("\r")[-1]
                    found.append((began if began is not None else shown, kept))
                    line, began = "", None
                elif piece:
                    line += piece
                    began = shown if began is None else began
        return found


def record(language: str, folder: Path) -> Recording:
    """The whole session."""
    installation, recording = Installation.find(), Recording()
    person = Person(folder, "shop")
    port = str(free_port())
    shutil.rmtree(person.home)
    person.home.mkdir()
    programs = _programs(folder, installation)
    with ScriptedModel() as model:
        codex = Codex(installation, person, model)
        codex.configure(f'[projects."{person.repository}"]\ntrust_level = "trusted"\n')
        env = person.environment(
            **SERVER, CODEXMEM_AUTOSTART="1", PATH=f"{programs}:{os.environ['PATH']}", LANG=LANG[language],
            CODEXMEM_PORT=port, TERM="xterm-256color", COLUMNS=str(COLUMNS), PYTHONPATH=str(SOURCES),
        )  # fmt: skip
        try:
            for command in SCRIPT[language]:
                if command.startswith("#"):
                    recording.show(f"\x1b[2m{command}\x1b[0m\r\n", 0.6)
                    _codex_works(codex)
                    continue
                recording.type(command)
                waits, said = zip(*_typed(command, env, person.repository), strict=True)
                recording.show(_as_at_home("".join(said), person, port), sum(waits))
        finally:
            subprocess.run([programs / "codexmem", "stop"], env=env, check=False, capture_output=True)
    return recording


def _as_at_home(said: str, person: Person, port: str) -> str:
    """The same in a home that a reader may have, and without most of what Codex's file gains and loses."""
    there = {
        str(person.home): HOME, str(person.repository): f"{HOME}/shop", str(PROGRAMS): f"{HOME}/.local/bin", port: PORT,
    }  # fmt: skip
    for true, shown in there.items():
        said = said.replace(true, shown)
    return _DIFF.sub(lambda found: f"{found[1]}\x1b[2m… {found[2].count(chr(10))} …\x1b[0m\r\n", said)


def _codex_works(codex: Codex) -> None:
    codex.person.write(story.FILE, story.BEFORE)
    codex.model.play(
        Call("exec_command", {"cmd": f"sleep 2; cat {story.FILE}"}),
        Call("apply_patch", source=story.PATCH),
        Call("mcp__codexmem__save_memory", {"text": story.SAVED}),
        Say(story.ANSWER),
    )
    run = codex.exec(story.PROMPT)
    assert run.code == 0, run.words
    time.sleep(5)  # the turn becomes memories


def _programs(folder: Path, installation: Installation) -> Path:
    """Our command and Codex under their names."""
    programs = folder / "bin"
    programs.mkdir()
    for name, module in (("codexmem", "codexmem.cli"), ("codexmem-hook", "codexmem.hook")):
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        path.chmod(0o755)
    (programs / "codex").symlink_to(installation.codex)
    return programs


def _typed(command: str, env: dict[str, str], folder: Path) -> Iterator[tuple[float, str]]:
    """What a command writes to its terminal, each piece with the seconds since the last."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command], env=env, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    last, seen = time.monotonic(), ""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
        while select.select([ours], [], [], 0.1)[0] or process.poll() is None:
            if not select.select([ours], [], [], 0)[0]:
                continue
            said = os.read(ours, 1 << 16)
            if not said:
                break
            now = time.monotonic()
            yield now - last, said.decode()
            last, seen = now, seen + said.decode()
            if seen.endswith("]: "):
                os.write(ours, b"n\n")  # not yet: the next command does it, and shows more
    os.close(ours)
    assert process.wait(60) == 0, f"{command}\n{seen}"


# Nothing is fetched: the reader's own fonts. Each line shows itself when its time has come, and stays.
_PICTURE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono CJK SC", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
@keyframes {unique_id}-show {{ from {{ opacity: 0 }} to {{ opacity: 1 }} }}
{styles}
STEPS
@media (prefers-reduced-motion: reduce) {{ text[clip-path] {{ animation: none !important; opacity: 1 !important }} }}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
<rect width="{width}" height="{height}" rx="8" fill="#16181d" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
_LENGTH = re.compile(r'textLength="(?P<length>[\d.]+)" (?P<between>[^>]*)>(?P<text>[^<]+)<')
_THEME = TerminalTheme(
    (22, 24, 29), (220, 223, 228),
    [(22, 24, 29), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194),
     (220, 223, 228)],
    [(130, 137, 151)] * 8,
)  # fmt: skip


def picture(recording: Recording) -> str:
    """The session as an SVG that plays once."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    lines = recording.lines()
    steps, row = [], 0
    for at, line in lines:
        text = Text.from_ansi(line)
        height = max(1, len(text.wrap(console, COLUMNS)))
        steps += [f'[clip-path="url(#t-line-{row + each})"] {{ opacity: 0; animation: t-show 1ms {at:.2f}s forwards }}'
                  for each in range(height)]  # fmt: skip
        row += height
        console.print(text, soft_wrap=False, highlight=False)
    drawn = console.export_svg(theme=_THEME, code_format=_PICTURE, unique_id="t", title="")
    return _LENGTH.sub(_measured, drawn.replace("STEPS", "\n".join(steps)))


def _measured(found: re.Match[str]) -> str:
    """The width of a text with Chinese in it, which takes two cells a character; Rich counts one."""
    text = html.unescape(found["text"])
    return f'textLength="{float(found["length"]) / len(text) * cell_len(text):g}" {found["between"]}>{found["text"]}<'


def main() -> None:
    """Both languages."""
    for language, suffix in (("en", ""), ("zh", ".zh")):
        with tempfile.TemporaryDirectory(prefix="record-") as folder:
            recording = record(language, Path(folder))
        (IMAGES / f"first-minute{suffix}.svg").write_text(picture(recording))
        (IMAGES / f"first-minute{suffix}.cast").write_text(recording.cast())
        print(html.unescape("".join(text for _, text in recording.events)))  # noqa: T201 - to be read before it is kept


if __name__ == "__main__":
    main()
