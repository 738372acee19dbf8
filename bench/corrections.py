"""How often must a person correct a coding agent? Real agents fix bugs whose right fix hinges on an earlier decision.

The store holds the chats of `bench.delivery`. Codex and Qwen Code are started in a checkout with a bug report as their
prompt. Their model is scripted and runs on loopback: it fixes rightly only if the request that reaches it tells the
rule, otherwise it guesses, and is corrected once by a second turn that says the rule. Five arms stand side by side:
without codexmem, with its start context, with that and the context of the prompt, with its tools alone, and with as
many tokens of other memories. `--model-url` takes a real model instead, which is judged by what it wrote.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench import agent_runs, delivery, effect, report, told
from bench.agent_runs import AGENTS, DecidingModel, DrivenAgent, Endpoint, RunFailed
from bench.delivery import PROJECT, Task
from bench.product import Product, text_of
from codexmem import __version__
from tests._support.scripted_model import Say, Step
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only

KEY = "OPENAI_API_KEY"
GUESS = "Guarded the failing call; nothing else was touched."
_LISTS = ("/api/observations", "/api/summaries", "/api/prompts")
_CLEANINGS = 20
_MEMORY_DISK = Path("/dev/shm")


@dataclass(frozen=True)
class Arm:
    """What an agent has of codexmem."""

    name: str
    installed: bool = True
    hooks: bool = True
    searches: bool = False  # the model calls the tool before it decides
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_told(self) -> bool:
        """Whether hooks hand something over; in a store that is not empty a session's start always brings something."""
        return self.installed and self.hooks


NONE, PLACEBO = Arm("none", installed=False), Arm("placebo", installed=False)
START = Arm("start", variables={"CODEXMEM_PROMPT_CONTEXT": "0"})
PROMPT = Arm("prompt")
TOOL = Arm("tool", hooks=False, searches=True)
ARMS = (NONE, START, PROMPT, TOOL, PLACEBO)  # the last is as large as what the third was told


@dataclass(frozen=True)
class Trial:
    """One agent, one arm, one bug."""

    arm: str
    task: str
    right: bool = False  # at once
    right_after: bool = False  # … or after the correction
    words_alone: bool = False  # whether the request had enough of the rule's words, wherever they came from
    tokens: int = 0  # handed over by codexmem, or in its place
    failed: str = ""  # why it says nothing
    seconds: float = 0.0

    @property
    def corrections(self) -> int:
        """How often the person had to say it."""
        return 0 if self.right else 1


class Trials:
    """The runs of one agent on one store, each of which leaves the store as it was."""

    def __init__(self, product: Product, agent: DrivenAgent, model: DecidingModel | None, past: Sequence[delivery.Chat],
                 tasks: Sequence[Task], *, checkout: Path | None, timeout_s: float) -> None:  # fmt: skip
        self._product, self._agent, self._model = product, agent, model
        self._own = delivery.own_words(past, [task.asked for task in tasks])
        self._known = {each.key for each in past}
        self._memories = [(_session(memory), text_of(memory)) for memory in product.stored(PROJECT)]
        self._checkout, self._timeout_s = checkout, timeout_s
        self._bare = ""  # what the agent's model is sent without any memory
        self._said = ""  # the agent, at last

    def of(self, task: Task) -> Iterator[Trial]:
        """Every arm."""
        self._bare = ""
        size: int | None = None
        for arm in ARMS:
            began = time.monotonic()
            try:
                if arm is PLACEBO and size is None:
                    raise RunFailed(f"arm {PROMPT.name} failed, so that its size is not known")
                trial = self._trial(arm, task, size or 0)
                size = trial.tokens if arm is PROMPT else size
            except RunFailed as error:
                trial = Trial(arm.name, task.key, failed=str(error))
            self._clean()
            yield Trial(**asdict(trial) | {"seconds": round(time.monotonic() - began, 1)})

    def _trial(self, arm: Arm, task: Task, size: int) -> Trial:
        filler = placebo(self._memories, task.chats[-1].key, size, task.key) if arm is PLACEBO else ""
        prompt = f"{filler}\n\n{task.asked}".strip()
        tokens = told.tokens(filler) + (0 if self._model else self._would_hand_over(arm, task))
        self._agent.prepare(installed=arm.installed, hooks=arm.hooks, checkout=self._checkout)
        look = self._agent.search(task.asked) if arm.searches else ()
        request, session = self._turn(arm, task, prompt, 1, lambda text: self._tells(arm, task, text), look)
        if arm is NONE:
            self._bare = request
        right = self._is_right(task)
        if self._model is not None:
            tokens += told.tokens(agent_runs.handed_over(request)) + told.tokens(self._found(arm))
        right_after = right
        if not right:
            self._turn(arm, task, correction(task), 2, lambda text: correction(task) in text, session=session)
            right_after = self._is_right(task)
        return Trial(arm.name, task.key, right, right_after, rule_words(task, request), tokens)

    def _turn(self, arm: Arm, task: Task, prompt: str, number: int, knows: Callable[[str], bool],
              look: Sequence[Step] = (), session: str = "") -> tuple[str, str]:  # fmt: skip
        """What the model was sent when it decided, if that can be seen, and the session."""

        def fix(knowing: bool) -> Sequence[Step]:
            return *self._agent.write(f"fix_{number}.md", task.rule if knowing else GUESS), Say("It is fixed.")

        if self._model is not None:
            self._model.begin(knows, fix, look)
        turn = self._agent.turn(prompt, self._timeout_s, session, **arm.variables)
        self._said = turn.said
        if self._model is None:
            return "", turn.session
        if self._model.decided is None or not (self._agent.person.repository / f"fix_{number}.md").exists():
            raise RunFailed("the model was not asked for a fix, or what it wrote did not arrive")
        if arm.is_told and not agent_runs.handed_over(self._model.decided):
            raise RunFailed("the hooks handed nothing over")
        return self._model.decided, turn.session

    def _tells(self, arm: Arm, task: Task, request: str) -> bool:
        # Who searches is told by the result: definitions of tools, which some agents look up first, decide nothing.
        return tells(task, self._found(arm) if arm.searches else request, self._own, self._bare)

    def _found(self, arm: Arm) -> str:
        return agent_runs.last_result(self._model.deciding) if arm.searches and self._model is not None else ""

    def _is_right(self, task: Task) -> bool:
        """Judged by what the agent said at last and wrote."""
        return rule_words(task, f"{self._said}\n{agent_runs.written(self._agent.person.repository, self._checkout)}")

    def _would_hand_over(self, arm: Arm, task: Task) -> int:
        """Tokens that the hooks hand over; asked of them before a run whose requests cannot be seen."""
        if not arm.is_told:
            return 0
        start = self._product.at_start(PROJECT, "asks")
        prompt = "" if arm is START else self._product.at_prompt(PROJECT, "asks", task.asked)
        self._clean()
        return told.tokens(start) + told.tokens(prompt)

    def _clean(self) -> None:
        """Forget what was captured of the run: the correction says the rule, which the next run must not be told."""
        for _ in range(_CLEANINGS):
            self._product.settle()
            newest = [item for path in _LISTS for item in self._product.get(path, project=PROJECT, limit=20)["items"]]
            strange = {_session(item) for item in newest} - self._known
            if not strange:
                return
            for session in strange:
                self._product.forget(session)
        raise RuntimeError("the store cannot be brought back to what it was")


def _session(memory: Mapping[str, Any]) -> str:
    return str(memory.get("content_session_id") or memory.get("memory_session_id") or "")


def rule_words(task: Task, text: str) -> bool:
    """Whether a text has at least half of the rule's words that the deciding chat has."""
    rule = told.rare_words(task.rule, task.asked)
    most = told.share_said(rule, task.chats[-1].text)
    return told.share_said(rule, text) >= delivery.ENOUGH * most > 0


def tells(task: Task, request: str, own: Mapping[str, set[told.Shingle]], bare: str = "") -> bool:
    """Whether a request tells the rule: enough of its words, and the deciding chat in its own wording.

    Lines that the agent sends without any memory do not count: its instructions have thousands of words, and by chance
    enough of those of eight rules in 27.
    """
    known = set(bare.splitlines())
    added = "\n".join(line for line in request.splitlines() if line not in known)
    return told.first_place(own[task.chats[-1].key], added) is not None and rule_words(task, added)


def correction(task: Task) -> str:
    """What the person says to a wrong fix."""
    return f"That is not right. We decided this earlier: {task.rule}"


def placebo(memories: Sequence[tuple[str, str]], but: str, tokens: int, seed: str) -> str:
    """So many tokens of memories, drawn at random from all sessions but one."""
    others = [text for session, text in memories if session != but]
    random.Random(seed).shuffle(others)
    return told.together(others, tokens) if tokens else ""


def figures(trials: Sequence[Trial], *, seen: bool = True) -> dict[str, dict[str, float | None]]:
    """For each arm what its runs came to; those that failed count nowhere else.

    Where requests were not seen, as with a real model, nobody knows what tools answered and which words arrived.
    """
    made: dict[str, dict[str, float | None]] = {}
    for arm in ARMS:
        run = [trial for trial in trials if trial.arm == arm.name]
        counted = [trial for trial in run if not trial.failed]
        made[arm.name] = {
            "runs": len(run),
            "failed": len(run) - len(counted),
            "right_at_once": sum(trial.right for trial in counted),
            "corrections": sum(trial.corrections for trial in counted),
            "still_wrong": sum(not trial.right_after for trial in counted),
            "corrections_per_task": fmean(trial.corrections for trial in counted) if counted else None,
            "tokens": median(trial.tokens for trial in counted) if counted and (seen or not arm.searches) else None,
            "words_alone": sum(trial.words_alone for trial in counted) if seen else None,
        }
    return made


def is_kept(made: Mapping[str, Mapping[str, float | None]]) -> bool:
    """No run failed, every correction helped, and codexmem as it is installed saves some, which a placebo does not."""
    needed = {arm: each["corrections_per_task"] for arm, each in made.items()}
    product = needed[PROMPT.name]
    return all(not each["failed"] and not each["still_wrong"] for each in made.values()) and all(
        product is not None and other is not None and product < other
        for other in (needed[NONE.name], needed[PLACEBO.name])
    )


def table(made: Mapping[str, Mapping[str, float | None]]) -> str:
    """The arms below each other."""
    columns = ("right at once", "corrections", "per task", "still wrong", "failed", "tokens, median", "words alone")
    names = ("right_at_once", "corrections", "corrections_per_task", "still_wrong", "failed", "tokens", "words_alone")
    rows = [[arm, *("-" if each[name] is None else each[name] for name in names)] for arm, each in made.items()]
    return report.table(("arm", *columns), rows)


def fill(data: Path, embedder: str, kept: Path) -> None:
    """A store with the chats of the past, unless an earlier run has left it, of this program or of `bench.delivery`."""
    tasks, _, noise = delivery.read(data)
    with Product.opened(embedder, kept) as product:
        if not product.filled:
            delivery.capture(product, delivery.order(tasks, noise))
            product.mark_filled()


def measure_agent(program: str, data: Path, embedder: str, filled: Path, *, sample: int | None,
                  endpoint: Endpoint | None, checkout: Path | None, timeout_s: float) -> list[Trial]:  # fmt: skip
    """All trials of one agent, on a copy of the filled store; without a real model, off every network but loopback."""
    tasks, _, noise = delivery.read(data)
    past, trials = delivery.order(tasks, noise), []
    with ExitStack() as stack:
        stack.enter_context(loopback_only() if endpoint is None else nullcontext())
        copy = Path(stack.enter_context(_folder())) / "store"
        shutil.copytree(filled, copy)
        product = stack.enter_context(Product.opened(embedder, copy))
        model = stack.enter_context(DecidingModel()) if endpoint is None else None
        place = endpoint or Endpoint(model.url if model else "", "scripted")
        agent = AGENTS[program](Installation.find(), Path(stack.enter_context(_folder())), PROJECT, place)
        agent.set_up(Path(product.environment["CODEXMEM_DATA_DIR"]))
        runs = Trials(product, agent, model, past, tasks, checkout=checkout, timeout_s=timeout_s)
        for number, task in enumerate(tasks[:sample], 1):
            of_task = list(runs.of(task))
            trials += of_task
            said = ", ".join(f"{each.arm} {_word(each)}" for each in of_task)
            effect.progress(f"{agent.title}, {number} of {len(tasks[:sample])}, {task.key}: {said}")
    return trials


def _folder() -> tempfile.TemporaryDirectory[str]:
    place = _MEMORY_DISK if os.access(_MEMORY_DISK, os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=place, prefix="corrections-", ignore_cleanup_errors=True)


def _word(trial: Trial) -> str:
    return f"FAILED ({trial.failed})" if trial.failed else "right" if trial.right else "corrected"


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__, writes=False)
    parser.add_argument("--agents", nargs="+", choices=AGENTS, default=list(AGENTS), help="default: all")
    parser.add_argument("--jobs", type=int, default=2, help="agents at the same time; default: 2")
    parser.add_argument("--timeout", type=float, default=90.0, metavar="S", help="seconds of a turn; default: 90")
    parser.add_argument("--model-url", default="", metavar="URL", help=f"a real model instead; its key is in {KEY}")
    parser.add_argument("--model", default="", metavar="NAME", help="… and its name")
    parser.add_argument("--checkout", type=Path, default=None, metavar="DIR", help="code to work on; default: none")
    options = parser.parse_args(argv)
    if bool(options.model_url) != bool(options.model):
        parser.error("--model-url and --model go together")
    data, began = effect.data_of(options), time.monotonic()
    endpoint = None
    if options.model_url:
        endpoint = Endpoint(options.model_url, options.model, os.environ.get(KEY) or "x", scripted=False)
    with _folder() as folder, ProcessPoolExecutor(options.jobs) as pool:
        filled = (options.stores or Path(folder)) / f"delivery-single-{options.embedder}"
        pool.submit(fill, data, options.embedder, filled).result()
        effect.progress(f"corrections: the store is filled after {time.monotonic() - began:,.0f} s")
        waiting = {
            program: pool.submit(measure_agent, program, data, options.embedder, filled, sample=options.sample,
                                 endpoint=endpoint, checkout=options.checkout, timeout_s=options.timeout)
            for program in options.agents
        }  # fmt: skip
        trials = {program: each.result() for program, each in waiting.items()}
    made = {program: figures(each, seen=endpoint is None) for program, each in trials.items()}
    seconds = time.monotonic() - began
    lines = [f"  codexmem {__version__}, {datetime.now(UTC):%Y-%m-%d}, {Installation.find().describe()}, "
             f"model {options.model or 'scripted'}"]  # fmt: skip
    for program, each in made.items():
        lines += [f"\n  {AGENTS[program].title}, {report.shown(each[NONE.name]['runs'])} tasks", table(each)]
        lines += [f"  failed: {trial.arm}, {trial.task}: {trial.failed}" for trial in trials[program] if trial.failed]
    document = {"version": __version__, "sample": options.sample, "seconds": round(seconds), "figures": made,
                "trials": {program: [asdict(trial) for trial in each] for program, each in trials.items()}}  # fmt: skip
    return report.conclude("corrections", document, "\n".join([*lines, f"\n  {seconds:,.0f} s"]),
                           kept=all(map(is_kept, made.values())), as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
