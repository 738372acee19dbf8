"""Asking the person at the terminal whether an agent may use a tool.

The question goes to the terminal itself and the answer comes from there, whatever the agent's streams are. One question
at a time; what was typed before it was asked does not count; no answer in time means no. What an agent wrote is shown
with every control character and every sign that turns or hides text spelled out, so that it cannot forge the question.
"""

from __future__ import annotations

import os
import select
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codexmem.codecli import surroundings

# ruff: noqa: RUF001  (Chinese has punctuation of its own)


TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": 'Allow "{what}" (risk: {risk})?  {keys} ',
        "y": "[y] once",
        "a": "[a] always for project",
        "n": "[n] deny",
        "d": "[d] deny+reason",
        "?": "[?] details",
        "why": "What should the agent do instead? ",
        "late": "no answer: denied",
        "allowed": "allowed once",
        "always": "allowed from now on in this project",
        "denied": "denied",
        "read": "read",
        "write": "write",
        "network": "network",
        "execute": "execute",
        "unknown": "unknown",
        "agent": "agent",
        "folder": "folder",
        "reason": "why it is asked",
        "remember": "[a] would add",
        "whole": "in full",
    },
    "zh": {
        "question": "允许“{what}”吗（风险：{risk}）？  {keys} ",
        "y": "[y] 仅此一次",
        "a": "[a] 本项目内始终允许",
        "n": "[n] 拒绝",
        "d": "[d] 拒绝并说明",
        "?": "[?] 详情",
        "why": "智能体应当改做什么？",
        "late": "未作答：已拒绝",
        "allowed": "已允许一次",
        "always": "此后在本项目内允许",
        "denied": "已拒绝",
        "read": "读取",
        "write": "写入",
        "network": "网络",
        "execute": "执行",
        "unknown": "未知",
        "agent": "智能体",
        "folder": "目录",
        "reason": "询问原因",
        "remember": "[a] 将添加",
        "whole": "全文",
    },
}


TERMINAL = "/dev/tty"
_WIDE = 240  # characters of a request in the question; the details show all
_MOST = 16_384  # characters of details
_LONGEST_REASON = 400
_YES, _ALWAYS, _NO, _REASON, _DETAILS = b"y", b"a", b"n", b"d", b"?"
_ENDS = (b"\r", b"\n", b"\x03", b"\x04", b"\x1b", b"")  # an answer that is none: no


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """What is asked."""

    what: str  # tool and argument, such as `shell: rm -rf build`
    risk: str  # empty if it is not known
    reason: str = ""  # why it is asked
    details: Sequence[tuple[str, str]] = ()  # name (a key of the texts) and text
    always: Sequence[str] = ()  # the rules that "always" would add; empty: it is not offered


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What the person said."""

    allowed: bool
    always: bool = False
    reason: str = ""
    late: bool = False  # nobody said anything
    absent: bool = False  # nobody could be asked


class Person(Protocol):
    """Whoever can be asked."""

    def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Wait for an answer; never raises."""
        ...


class TerminalPerson:
    """The person at the terminal of this process."""

    def __init__(self, timeout_s: float, *, language: str = "en", path: str = TERMINAL) -> None:
        self._timeout_s = timeout_s
        self._texts = TEXTS["zh" if language == "zh" else "en"]
        self._path = path
        self._turn = threading.Lock()

    def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Wait for an answer, at most as long as configured; then it is no."""
        with self._turn:
            try:
                terminal = os.open(self._path, os.O_RDWR | os.O_NOCTTY)
            except OSError:
                return ApprovalAnswer(allowed=False, absent=True)
            try:
                return self._asked(terminal, question)
            except Exception:  # a terminal that goes away in the middle has said nothing
                return ApprovalAnswer(allowed=False, absent=True)
            finally:
                os.close(terminal)

    def _asked(self, terminal: int, question: ApprovalQuestion) -> ApprovalAnswer:
        import termios
        import tty

        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSANOW)
            ours = termios.tcgetattr(terminal)
            ours[3] &= ~termios.ISIG  # an interrupt here is an answer, and not for the agent
            termios.tcsetattr(terminal, termios.TCSANOW, ours)
            termios.tcflush(terminal, termios.TCIFLUSH)
            return self._answered(terminal, question)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _answered(self, terminal: int, question: ApprovalQuestion) -> ApprovalAnswer:
        until = surroundings.monotonic() + self._timeout_s
        self._put(terminal, self._line(question))
        while True:
            pressed = _key(terminal, until)
            key = pressed.lower() if pressed is not None else None
            if key is None:
                self._put(terminal, f"{self._texts['late']}\r\n")
                return ApprovalAnswer(allowed=False, late=True)
            if key == _YES:
                self._put(terminal, f"{self._texts['allowed']}\r\n")
                return ApprovalAnswer(allowed=True)
            if key == _ALWAYS and question.always:
                self._put(terminal, f"{self._texts['always']}\r\n")
                return ApprovalAnswer(allowed=True, always=True)
            if key == _REASON:
                self._put(terminal, f"\r\n{self._texts['why']}")
                return ApprovalAnswer(allowed=False, reason=self._said(terminal, until))
            if key == _NO or key in _ENDS:
                self._put(terminal, f"{self._texts['denied']}\r\n")
                return ApprovalAnswer(allowed=False)
            if key == _DETAILS:
                self._put(terminal, self._details(question) + self._line(question))

    def _said(self, terminal: int, until: float) -> str:
        """A line of text, shown as it is typed."""
        text = bytearray()
        while (key := _key(terminal, until)) is not None and key not in _ENDS:
            if key in {b"\x7f", b"\x08"}:
                while text and text[-1] & 0xC0 == 0x80:
                    text.pop()
                del text[-1:]
                self._put(terminal, "\b \b")
            elif len(text) < _LONGEST_REASON and key >= b" ":
                text += key
                os.write(terminal, key)
        self._put(terminal, f"\r\n{self._texts['denied']}\r\n")
        return text.decode("utf-8", "replace").strip()

    def _line(self, question: ApprovalQuestion) -> str:
        keys = [_YES, _ALWAYS, _NO, _REASON, _DETAILS] if question.always else [_YES, _NO, _REASON, _DETAILS]
        shown = " ".join(self._texts[key.decode()] for key in keys)
        risk = self._texts[question.risk or "unknown"]
        return "\r\n" + self._texts["question"].format(what=shortened(question.what), risk=risk, keys=shown)

    def _details(self, question: ApprovalQuestion) -> str:
        rows = [("whole", question.what), ("reason", question.reason), *question.details]
        rows += [("remember", rule) for rule in question.always]
        lines = [f"  {self._texts.get(name, name)}: {visible(text[:_MOST])}" for name, text in rows if text]
        return "\r\n" + "\r\n".join(lines)

    def _put(self, terminal: int, text: str) -> None:
        waiting = text.encode("utf-8", "backslashreplace")
        while waiting:
            waiting = waiting[os.write(terminal, waiting) :]


def visible(text: str) -> str:
    """The text on one line, with everything spelled out that a terminal would act upon or not show."""
    return "".join(each if _shows(each) else _spelled(each) for each in text)


def shortened(text: str) -> str:
    """Beginning and end of a text, and how much is between; nothing is hidden behind a long beginning."""
    if len(text) <= _WIDE:
        return visible(text)
    half = _WIDE // 2
    return f"{visible(text[:half])} …[{len(text) - 2 * half}]… {visible(text[-half:])}"


def _shows(char: str) -> bool:
    return char == " " or (char.isprintable() and unicodedata.category(char) not in {"Cf", "Co", "Cn", "Cs", "Zs"})


def _spelled(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    number = ord(char)
    return short.get(char) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")


def _key(terminal: int, until: float) -> bytes | None:
    """One byte from the terminal; None when the time is up."""
    left = until - surroundings.monotonic()
    if left <= 0 or not select.select([terminal], [], [], left)[0]:
        return None
    key = os.read(terminal, 1)
    if key == b"\x1b":
        # What follows belongs to the same key.
        while select.select([terminal], [], [], 0.01)[0] and os.read(terminal, 16):
            pass
    return key
