"""The person's agent as a model: one prompt is one run of its program.

It gets of the server's environment what it needs and nothing else: no keys, addresses of databases or credentials but
those of its own login. A program whose limit is reached, or that keeps failing, is left alone for a while. What it says
stays out of messages: it may repeat the prompt.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from codexmem.agents import ALIASES
from codexmem.agents.authors import NAMES
from codexmem.agents.authors.author import Author, RunFiles, trouble_of, wait_of
from codexmem.agents.authors.process import Ending, ProgramLimits, ProgramRun, run
from codexmem.hook import surroundings
from codexmem.kernel.llm.call_pauses import CallPauses
from codexmem.kernel.llm.model import Check, Completion, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.text_size import tokens

ANY = "agent"  # whichever is installed
TIMEOUT_S = 120.0
MAX_BYTES = 1 << 20
MAX_PROMPT_CHARS = 100_000
_SLOW_S = 30.0
LONGEST_REST_S = 3_600.0  # limits may end sooner than was said: somebody buys more
# Programs try again for minutes without saying more than that.
_WAITED_OUT = frozenset({Trouble.RATE_LIMIT, Trouble.QUOTA_EXHAUSTED, Trouble.AUTH_INVALID})
_MARKS = {"CODEXMEM_AUTHOR": "1", "CODEXMEM_INTERNAL": "1"}  # our own programs then do nothing


class AgentModel:
    """One agent with one person's login. Every call may come from any thread."""

    def __init__(self, author: Author, environ: Mapping[str, str], *, timeout_s: float = TIMEOUT_S,
                 max_bytes: int = MAX_BYTES, breaker: Breaker | None = None,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self.name = author.agent.name
        self.author = author
        self.timeout_s = timeout_s
        needed = author.login(environ)
        self._environ = {name: value for name, value in environ.items() if name in needed or author.needs(name)}
        self._max_bytes = max_bytes
        self._now_s = now_s
        self._pauses = CallPauses(slow_s=_SLOW_S, longest_rest_s=LONGEST_REST_S, breaker=breaker, now_s=now_s)

    def __repr__(self) -> str:
        return f"AgentModel({self.name!r})"

    @property
    def title(self) -> str:
        """The agent's name for people."""
        return self.author.agent.title

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """One run, or none while the program is known not to answer."""
        if len(prompt.text) > MAX_PROMPT_CHARS:
            raise Unanswered(f"the prompt is longer than {MAX_PROMPT_CHARS:,} characters", Trouble.UNRECOVERABLE)
        self._pauses.require(self.title)
        began_s = self._now_s()
        try:
            completion = self._answered(prompt, check)
        except Unanswered as error:
            self._pauses.failed(error, took_s=self._now_s() - began_s, deadline_s=self.timeout_s)
            raise
        self._pauses.worked()
        return completion

    def _answered(self, prompt: ModelPrompt, check: Check) -> Completion:
        program = shutil.which(self.author.agent.program, path=self._environ.get("PATH", ""))
        if program is None:
            raise self._missing()
        with tempfile.TemporaryDirectory(prefix="codexmem-author-", ignore_cleanup_errors=True) as root:
            files = RunFiles(Path(root).resolve() / "work", Path(root).resolve() / "aside")
            files.work.mkdir()
            files.aside.mkdir()
            how = self.author.invocation(prompt, files, self._environ)
            limits = ProgramLimits(self.timeout_s, self._max_bytes)
            environ = {**self._environ, **how.environ, **_MARKS}
            try:
                done = run((program, *how.words), how.given, files.work, environ, limits, check, self._now_s)
            except OSError:
                raise self._missing() from None
            finally:
                self.author.tidy(files, self._environ)
            return self._read(done, files, prompt)

    def _read(self, done: ProgramRun, files: RunFiles, prompt: ModelPrompt) -> Completion:
        if done.ending is Ending.TOO_SLOW:
            meant = self._meant(self.author.said(done, files).failure, done.code)
            if meant.trouble in _WAITED_OUT:
                raise meant
            # Its model may well have worked for it.
            message = f"{self.title} did not answer within {self.timeout_s:g} s"
            raise Unanswered(message, Trouble.TRANSIENT, prompt_tokens=tokens(prompt.text))
        if done.ending is Ending.TOO_MUCH:
            raise Unanswered(f"{self.title} printed more than {self._max_bytes:,} bytes", Trouble.TRANSIENT)
        said = self.author.said(done, files)
        if said.answer is None:
            raise self._meant(said.failure, done.code)
        return Completion(
            said.answer,
            tokens(prompt.text) if said.prompt_tokens is None else said.prompt_tokens,
            tokens(said.answer) if said.completion_tokens is None else said.completion_tokens,
        )

    def _meant(self, failure: str, code: int) -> Unanswered:
        """The failure in our words and classes."""
        trouble = trouble_of(failure)
        program = self.author.agent.program
        match trouble:
            case Trouble.RATE_LIMIT | Trouble.QUOTA_EXHAUSTED:
                wait_s = wait_of(failure, surroundings.now_ns() / 1e9)
                hint = "it is asked again later; set CODEXMEM_PROVIDER=rules to do without"
                return Unanswered(f"the usage limit of {self.title} is reached", trouble, hint=hint, wait_s=wait_s)
            case Trouble.AUTH_INVALID:
                hint = f"run {program} and log in"
                return Unanswered(f"{self.title} is not logged in", trouble, hint=hint)
            case Trouble.SETUP_REQUIRED:
                hint = f"update {program}, and see whether it answers when you run it yourself"
                return Unanswered(f"{self.title} cannot be asked as it is set up", trouble, hint=hint)
            case Trouble.UNRECOVERABLE:
                return Unanswered(f"{self.title} refuses the prompt", trouble)
        return Unanswered(f"{self.title} ended with code {code} and gave no answer", trouble)

    def _missing(self) -> Unanswered:
        program = self.author.agent.program
        hint = f"install {self.title}, or put {program} on the PATH of the codexmem server"
        return Unanswered(f"the program {program} is not there", Trouble.SETUP_REQUIRED, hint=hint)


class MissingAgent:
    """Stands for an agent that is not installed: it says so whenever it is asked, and looks again each time."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """The answer of an agent that has been installed meanwhile."""
        return agent_model(self.name).answer(prompt, check)


def author_of(name: str) -> Author:
    """How this agent answers prompts."""
    module = __import__(f"codexmem.agents.authors.{name.replace('-', '_')}", fromlist=["AUTHOR"])
    author: Author = module.AUTHOR
    return author


def installed_author(environ: Mapping[str, str]) -> str:
    """The first agent whose program is on the PATH; empty if there is none."""
    path = environ.get("PATH", "")
    return next((name for name in NAMES if shutil.which(author_of(name).agent.program, path=path)), "")


def chosen_agent(name: str) -> AgentModel | MissingAgent:
    """The agent that a person has chosen, whether or not it is installed."""
    try:
        return agent_model(name)
    except Unanswered:
        return MissingAgent(name)


def agent_model(name: str = ANY, environ: Mapping[str, str] | None = None, *, timeout_s: float = TIMEOUT_S,
                max_bytes: int = MAX_BYTES, breaker: Breaker | None = None) -> AgentModel:  # fmt: skip
    """The model that an agent is; `agent` means the first that is installed.

    `InvalidArgument` for an agent that writes no memories; `Unanswered` where none is installed.
    """
    environ = surroundings.environment() if environ is None else environ
    name = name.strip().lower()
    chosen = installed_author(environ) if name == ANY else ALIASES.get(name, name)
    if not chosen:
        hint = f"install one of {', '.join(NAMES)}, or set CODEXMEM_PROVIDER=rules"
        raise Unanswered("no agent is installed that could write memories", Trouble.SETUP_REQUIRED, hint=hint)
    if chosen not in NAMES:
        raise InvalidArgument(f"{name!r} is no agent that writes memories", hint=f"one of {', '.join((ANY, *NAMES))}")
    return AgentModel(author_of(chosen), environ, timeout_s=timeout_s, max_bytes=max_bytes, breaker=breaker)
