"""The question at a terminal: a real one, with somebody typing at the other end."""

from __future__ import annotations

import os
import pty
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.codecli.asking_person import TEXTS, ApprovalAnswer, ApprovalQuestion, TerminalPerson, shortened, visible

QUESTION = ApprovalQuestion(
    "shell: rm -rf build", "execute", "no rule allows it", (("agent", "codex"),), ('tool = "bash"',)
)


class Terminal:
    """A terminal whose other end the test holds."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.path = os.ttyname(self.slave)
        self.shown = b""

    def wait_for(self, text: str, times: int = 1) -> None:
        while self.shown.count(text.encode()) < times:
            self.shown += os.read(self.master, 4096)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def ask(self, *typed: tuple[str, str], language: str = "en", timeout_s: float = 10,
            question: ApprovalQuestion = QUESTION) -> ApprovalAnswer:  # fmt: skip
        """Ask; when a text has been shown, type the other."""
        answers: list[ApprovalAnswer] = []
        person = TerminalPerson(timeout_s, language=language, path=self.path)
        asking = threading.Thread(target=lambda: answers.append(person.ask(question)))
        asking.start()
        for shown, keys in typed:
            self.wait_for(shown)
            self.type(keys)
        asking.join(15)
        assert answers, "no answer"
        return answers[0]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    os.close(made.slave)
    os.close(made.master)


@pytest.mark.clause("001 §5.2", "ask: a person says allow once, always, deny, or deny with a reason for the agent")
@pytest.mark.parametrize(
    "keys,answer",
    [
        ("y", ApprovalAnswer(True)),
        ("Y", ApprovalAnswer(True)),
        ("a", ApprovalAnswer(True, always=True)),
        ("n", ApprovalAnswer(False)),
        ("\r", ApprovalAnswer(False)),
        ("\x03", ApprovalAnswer(False)),
        ("\x04", ApprovalAnswer(False)),
        ("\x1b[A", ApprovalAnswer(False)),
        ("zzqy", ApprovalAnswer(True)),
        ("dUse trash 吧\x7f instead\r", ApprovalAnswer(False, reason="Use trash  instead")),
    ],
)
def test_one_key_answers(terminal: Terminal, keys: str, answer: ApprovalAnswer) -> None:
    assert terminal.ask(("[?] details", keys)) == answer


def test_the_question_is_as_designed(terminal: Terminal) -> None:
    terminal.ask(("details", "n"))
    line = 'Allow "shell: rm -rf build" (risk: execute)?  [y] once [a] always for project [n] deny [d] deny+reason'
    assert line.encode() in terminal.shown


def test_the_question_can_be_asked_in_chinese(terminal: Terminal) -> None:
    assert terminal.ask(("[?] 详情", "y"), language="zh").allowed
    assert "允许“shell: rm -rf build”吗（风险：执行）？".encode() in terminal.shown
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()


def test_details_show_the_whole_and_ask_again(terminal: Terminal) -> None:
    long = ApprovalQuestion("shell: " + "x" * 500 + " rm -rf /", "execute", "no rule", (("folder", "/shop"),))
    assert terminal.ask(("[?] details", "?"), ("folder: /shop", "n"), question=long) == ApprovalAnswer(False)
    assert b"x" * 500 in terminal.shown.replace(b"\r\n", b"")
    assert b"rm -rf /" in terminal.shown


def test_always_is_only_offered_where_a_rule_can_be_written(terminal: Terminal) -> None:
    plain = ApprovalQuestion("frobnicate", "")
    assert terminal.ask(("details", "ay"), question=plain) == ApprovalAnswer(True)
    assert b"[a]" not in terminal.shown
    assert b"risk: unknown" in terminal.shown


def test_no_answer_in_time_is_no(terminal: Terminal) -> None:
    assert terminal.ask(timeout_s=0.1) == ApprovalAnswer(False, late=True)


def test_what_was_typed_before_the_question_does_not_count(terminal: Terminal) -> None:
    terminal.type("yyyy\n")
    assert select.select([terminal.slave], [], [], 60)[0], "nothing arrived"
    assert terminal.ask(timeout_s=0.3) == ApprovalAnswer(False, late=True)


def test_the_terminal_is_left_as_it_was(terminal: Terminal) -> None:
    import termios

    before = termios.tcgetattr(terminal.slave)
    terminal.ask(("details", "y"))
    assert termios.tcgetattr(terminal.slave) == before


def test_nobody_is_there(tmp_path: Path) -> None:
    assert TerminalPerson(1, path="/dev/null/none").ask(QUESTION) == ApprovalAnswer(False, absent=True)
    plain = tmp_path / "file"
    plain.touch()
    assert TerminalPerson(1, path=str(plain)).ask(QUESTION) == ApprovalAnswer(False, absent=True)


def test_one_question_at_a_time(terminal: Terminal) -> None:
    person = TerminalPerson(10, path=terminal.path)
    answers: list[ApprovalAnswer] = []
    asking = [threading.Thread(target=lambda: answers.append(person.ask(QUESTION))) for _ in range(2)]
    for each in asking:
        each.start()
    terminal.wait_for("details")
    assert terminal.shown.count(b"Allow") == 1
    terminal.type("y")
    terminal.wait_for("details", times=2)
    assert terminal.shown.index(b"allowed once") < terminal.shown.rindex(b"Allow")
    terminal.type("n")
    for each in asking:
        each.join(10)
    assert sorted(each.allowed for each in answers) == [False, True]


def test_what_an_agent_wrote_cannot_forge_the_question(terminal: Terminal) -> None:
    evil = 'ls" (risk: read)?\r\n\x1b[2J\x1b[HAllow \u202eyas\u200b'
    terminal.ask(("details", "n"), question=ApprovalQuestion(evil, "execute"))
    assert b"\x1b" not in terminal.shown
    assert b"\\x1b[2J" in terminal.shown
    assert b"\\r\\n" in terminal.shown
    assert "\u202e".encode() not in terminal.shown
    assert b"\\u202e" in terminal.shown
    assert visible("中文 é\t\x9b") == "中文 é\\t\\x9b"
    assert shortened("a" * 1_000 + "END").endswith("END")
    assert "[763]" in shortened("a" * 1_000 + "END")
