"""What a person comes to do, done from the home page as a person would, and counted: `python -m tests.web.tasks`.

The ten tasks are those of a review from outside. A click is one press of the mouse, a key one press of a key or of keys
together; a text is whatever is typed into one field.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.seeds import bank as bank_seeds
from tests.web.seeds import brief, life, qa, timeline
from tests.web.seeds.bank import Bank
from tests.web.visiting import Contexts, Visitor

PROJECT, OTHER = "shop", "ledger"
FILE = "src/db.py"
NOTE = "project://port"
QUESTIONS = 50
WORK_MS = 30_000
MOST_CLICKS = 4


@dataclass
class Person:
    """Somebody at a page whose every press is counted."""

    page: Page
    clicks: int = 0
    keys: int = 0
    texts: int = 0

    def click(self, what: Locator) -> None:
        """One click."""
        what.click()
        self.clicks += 1

    def press(self, key: str) -> None:
        """One key, or several together."""
        self.page.keyboard.press(key)
        self.keys += 1

    def fill(self, field: Locator, text: str) -> None:
        """Type into a field."""
        field.fill(text)
        self.texts += 1

    def find(self, words: str) -> None:
        """Search from anywhere."""
        self.press("Control+k")
        self.fill(self.page.get_by_role("dialog").get_by_role("combobox"), words)


@dataclass
class Place:
    """A server with a memory to work on."""

    server: Server
    bank: Bank
    questions: int = QUESTIONS  # that wait for a decision
    contexts: Contexts = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One of the ten."""

    letter: str
    what: str
    do: Callable[[Person, Place], None]


def fill(place: Place) -> None:
    """What the tasks are about."""
    server = place.server
    brief.learned(server, OTHER, 20)
    timeline.Agent(server, "ledger-today", OTHER).asks("What is new in the ledger?")
    brief.learned(server, PROJECT)
    life.saved(server, PROJECT, "The staging database is called orchid.", "The quokka queue is drained at midnight.")
    brief.worked(server, PROJECT)
    note = {"uri": NOTE, "content": "The port is 8080.", "priority": 5, "disclosure": "ports"}
    assert server.post("/api/notes", note).status in {200, 201}
    assert server.post("/api/notes/update", {"uri": NOTE, "content": "The port is 37877."}).status == 200
    for number in range(place.questions):
        asked = qa.Asked(f"What does rule {number} of the {number * 37 % 101}th part say?", f"It says {number * 7}.")
        qa.hand_in(server, PROJECT, asked)


def button(where: Page | Locator, name: str) -> Locator:
    """By its whole name."""
    return where.get_by_role("button", name=name, exact=True)


def learned_yesterday(person: Person, place: Place) -> None:
    """In a project that was not looked at last."""
    page = person.page
    person.click(page.get_by_role("combobox", name="Project"))
    person.click(page.get_by_role("option", name=OTHER))
    page.get_by_role("heading", level=1, name=f"Brief: {OTHER}").wait_for()
    days = brief.told(place.server, "days", OTHER)
    yesterday = days["days"][-2] if days["days"][-1]["day"] == days["last"] else days["days"][-1]
    number = date.fromisoformat(yesterday["day"]).toordinal() - date(1970, 1, 1).toordinal()
    person.click(page.locator(f"table button[data-day='{number}']"))
    expect(page.get_by_role("heading", name="Learned yesterday")).to_be_visible()
    listed = page.get_by_role("region", name="Learned memories").get_by_role("listitem")
    expect(listed).to_have_count(yesterday["memories"])


def wrong_memory(person: Person, place: Place) -> None:
    """Who wrote it and what came of it; correct it; take the correction back."""
    page = person.page
    line = page.get_by_role("listitem").filter(has_text="orchid")
    person.click(button(line, "Where does this come from?"))
    expect(page.get_by_role("dialog")).to_contain_text("orchid")
    person.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    person.click(button(line, "Edit…"))
    person.fill(page.get_by_role("dialog").get_by_label("Text", exact=True), "The staging database is called jasmine.")
    person.press("Control+Enter")
    expect(page.locator("[data-line]").filter(has_text="jasmine")).to_have_count(1)
    assert "jasmine" in life.told(place.server, PROJECT)
    person.click(button(page.get_by_role("alert"), "Undo"))
    expect(line.first).to_be_visible()
    assert "jasmine" not in life.told(place.server, PROJECT)


def why_this_result(person: Person, place: Place) -> None:
    """From a search to the reasons for one result."""
    page = person.page
    person.find("quokka queue")
    person.click(page.get_by_role("option").filter(has_text="as a list"))
    row = page.get_by_role("row").filter(has_text="drained")
    person.click(row.get_by_role("link", name="Why?"))
    result = page.get_by_role("listitem").filter(has_text="drained")
    expect(result.get_by_role("table")).to_be_visible()


def next_context(person: Person, place: Place) -> None:
    """What is told next and what it costs is there; pin one line, keep another from agents."""
    page = person.page
    expect(page.get_by_text(re.compile(r"^\d[\d,]* of 2,000 tokens$"))).to_be_visible()
    person.click(button(page.get_by_role("listitem").filter(has_text="quokka"), "Pin"))
    expect(page.locator("section[data-section=pinned]")).to_contain_text("quokka")
    line = page.locator("[data-line]").filter(has_text="orchid")
    person.click(button(page.get_by_role("listitem").filter(has=line), "Never tell agents"))
    expect(line).to_have_count(0)
    assert "orchid" not in life.told(place.server, PROJECT)


def fifty_questions(person: Person, place: Place) -> None:
    """One key for each."""
    page = person.page
    person.click(page.get_by_role("navigation").get_by_role("link", name=re.compile("^QA")))
    page.get_by_role("button", name=re.compile("^Approve")).wait_for()
    for _ in range(place.questions):
        person.press("a")
    eventually(lambda: qa.counts(place.server, PROJECT)["validated"] == place.questions)


def batch_and_back(person: Person, place: Place) -> None:
    """Order a batch, watch its run, judge it, see what was learned, and take that back."""
    page, about = person.page, bank_seeds.new_subject("en", "task")
    person.find("new batch")
    page.get_by_role("option", name="New batch").wait_for()
    person.press("Enter")
    person.fill(page.get_by_label("Request"), "Cu photocatalyst, as a person orders it")
    person.fill(page.get_by_label("Recipes per run"), "1")
    person.press("Control+Enter")
    person.click(page.get_by_role("row").filter(has_text="Run 1"))
    expect(page.get_by_text("completed", exact=True)).to_be_visible(timeout=WORK_MS)
    person.click(page.get_by_role("tab", name="Feedback"))
    person.fill(page.get_by_label("Pros"), f"{bank_seeds.SECOND}: {about}")
    person.press("Control+Enter")
    learning = page.get_by_role("region", name="Learning")
    expect(learning.get_by_role("link")).to_be_visible(timeout=WORK_MS)
    assert place.bank.lessons(about)
    person.click(learning.get_by_role("button", name=re.compile("^Roll back")))
    person.click(button(page.get_by_role("dialog"), "Roll back"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    eventually(lambda: not place.bank.lessons(about))


def cost_of_the_week(person: Person, place: Place) -> None:
    """Tokens of seven days, and by model."""
    days = brief.told(place.server, "cost", PROJECT)["days"][-7:]
    tokens = sum(day["tokens"] or 0 for day in days)
    panel = person.page.get_by_role("region", name="Cost and usage")
    expect(panel).to_contain_text(f"Last 7 days: {tokens:,} tokens")


def all_of_a_file(person: Person, place: Place) -> None:
    """Every memory about a file, and no other."""
    page = person.page
    files = page.get_by_role("group", name="File", exact=True)
    person.click(files.get_by_role("button").filter(has_text=FILE))
    person.click(page.get_by_role("link", name="Open as a list"))
    found = place.server.request("GET", f"/api/memories?project={PROJECT}&file={quote(FILE)}&limit=200").json["items"]
    grid = page.get_by_role("grid", name="Matching memories")
    expect(grid).to_have_attribute("aria-rowcount", str(len(found)))


def forget_a_session(person: Person, place: Place) -> None:
    """With everything in it, for good."""
    page = person.page
    person.click(page.get_by_role("navigation").get_by_role("link", name="Sessions"))
    person.click(page.get_by_role("row").filter(has_text="What is new in the ledger?"))
    person.click(button(page, "Forget…"))
    dialog = page.get_by_role("dialog")
    name = re.search(r"session:\d+", dialog.inner_text())
    assert name is not None
    person.fill(dialog.get_by_role("textbox"), name.group())
    person.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="forgotten")).to_be_visible()
    number = name.group().partition(":")[2]
    assert place.server.request("GET", f"/api/sessions/{number}").status == 404


def compare_versions(person: Person, place: Place) -> None:
    """Of a note."""
    page = person.page
    person.find(NOTE)
    page.get_by_role("option", name=NOTE).first.wait_for()
    person.press("Enter")
    person.click(page.get_by_role("tab", name=re.compile("^Versions")))
    person.click(page.get_by_role("grid", name="Versions").get_by_role("row").first)
    expect(page.locator(".cm-diff")).to_contain_text("8080")
    expect(page.locator(".cm-diff")).to_contain_text("37877")


TASKS = (
    Task("a", "what was learned yesterday in another project", learned_yesterday),
    Task("b", "a wrong memory: whence, what came of it, correct it, undo", wrong_memory),
    Task("c", "why this result", why_this_result),
    Task("d", "what is told next, its tokens, pin one, never tell another", next_context),
    Task("e", "decide about 50 questions", fifty_questions),
    Task("f", "order a batch, watch, judge, see what was learned, roll back", batch_and_back),
    Task("g", "what this week cost", cost_of_the_week),
    Task("h", f"all memories about {FILE}", all_of_a_file),
    Task("i", "forget a session", forget_a_session),
    Task("j", "compare two versions", compare_versions),
)


def at_home(visit: Visitor) -> Person:
    """Somebody who opened the application and looked at the project last."""
    page = visit(f"/ui/p/{PROJECT}")
    page.goto("/")
    page.get_by_role("heading", level=1, name=f"Brief: {PROJECT}").wait_for()
    return Person(page)


def row(task: Task, person: Person) -> str:
    """The counts as a line of a table."""
    return f"| {task.letter} | {task.what} | {person.clicks} | {person.keys} | {person.texts} |"


HEAD = "| | task | clicks | keys | texts typed |\n|---|---|---|---|---|"


def main() -> None:
    """Do all of them and print the table."""
    if not building.fresh():
        building.build()
    with tempfile.TemporaryDirectory() as folder, ModelServer() as model, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        with Server(Path(folder), settings=settings(model)) as server, bank_seeds.bank(server, model) as bank:
            place = Place(server, bank)
            fill(place)
            lines = [counted(browser, place, task)[0] for task in TASKS]
        browser.close()
    sys.stdout.write("\n".join((HEAD, *lines)) + "\n")


def settings(model: ModelServer) -> dict[str, str]:
    """Of a server that asks this model."""
    return {
        "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "test-key", "CODEXMEM_BATCH_WAIT_S": "0",
    }  # fmt: skip


def counted(browser: Browser, place: Place, task: Task) -> tuple[str, Person]:
    """The task done, as a line and by whom."""
    visit = Visitor(browser, f"http://127.0.0.1:{place.server.port}", place.contexts)
    person = at_home(visit)
    task.do(person, place)
    visit.close()
    return row(task, person), person


if __name__ == "__main__":
    main()
