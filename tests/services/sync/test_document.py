"""A memory as a file: it comes back as it was, the same state gives the same bytes, what is wrong has a line."""

from __future__ import annotations

from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem.kernel.model.attrs import LessonAttrs, NoteAttrs, QaAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind, State
from codexmem.sync.document import MemoryFile, marked, of_state, parse, path_of, refusal_of, resolved, to_state, uri_of
from codexmem.sync.merge import merge, side_by_side

TEXT = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40
)  # whatever a title may hold
LINE = st.sampled_from(["a", "b", "---", "# c", "", "<<<<<<< x", "=======", "key: v", "端口"])


def note(body: str, **fields: Any) -> MemoryFile:
    return MemoryFile(Kind.NOTE, body, {"uri": "project://x", **fields}, "n1")


@settings(max_examples=200)
@given(TEXT, TEXT, st.lists(TEXT.filter(bool), max_size=3, unique=True), st.lists(LINE, min_size=1, max_size=6))
def test_a_file_says_what_it_was_written_from_to_us_and_to_yaml(
    question: str, summary: str, tags: list[str], lines: list[str]
) -> None:
    body = "\n".join(lines).rstrip("\n") + "\nend"
    file = MemoryFile(
        Kind.QA, body, {"question": question, "phrasings": (), "summary": summary, "tags": tuple(tags)}, "q-1"
    )
    text = file.text()
    read = parse(text)
    assert (read.body, read.id, read.digest()) == (body, "q-1", file.digest())
    assert [read.get(name) for name in ("question", "summary", "tags")] == [question, summary, tuple(tags)]
    assert parse(read.text()).text() == text
    told = yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))
    assert (told["question"] or "", told.get("summary", ""), told.get("tags", [])) == (question, summary, tags)


@pytest.mark.parametrize(
    "text,line,said",
    [
        ("---\nuri: a://b\nx\n", 1, "do not end"),
        ("---\nnonsense\n---\nx", 2, "no field"),
        ("---\nuri: a://b\nuri: a://c\n---\nx", 3, "twice"),
        ("---\nuri: a://b\nauthor: me\n---\nx", 3, "no field author"),
        ("---\nkind: song\n---\nx", 2, "none of"),
        ("---\npriority: 11\n---\nx", 2, "0 to 10"),
        ('---\ntitle: "open\n---\nx', 2, "does not end"),
        ("---\ntitle: |\n---\nx", 2, "has a meaning in YAML"),
        ("---\ntitle: a\n---\n\n", 1, "says nothing"),
        ("---\nid: ../x\n---\nx", 2, "no id"),
        ("---\ntitle: a\n---\nx\0", 4, "NUL"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InvalidArgument, match=f"line {line}: .*{said}"):
        parse(text)


def test_line_ends_marks_of_order_and_other_spellings_make_no_difference() -> None:
    plain = parse("---\ntitle: Port\ntags:\n---\nx\ny\n".replace("tags:\n", ""))
    for text in (
        "\ufeff---\r\ntitle: Port\r\n---\r\nx\r\ny\r\n",
        "---\n# why\ntitle: 'Port'  # so\n\n---\nx\ny\n\n\n",
        '---\ntitle: "Po\\u0072t"\n---\nx\ny',
    ):
        assert parse(text).digest() == plain.digest()
    assert parse("---\nkind: qa\nquestion: q\ntags: [a, b c]\n---\nx").get("tags") == ("a", "b c")


def test_a_file_without_fields_is_all_body() -> None:
    assert parse("# Port\n\n5179\n", Kind.NOTE).body == "# Port\n\n5179"


@pytest.mark.parametrize(
    "kind,state",
    [
        (
            Kind.NOTE,
            State("a\nb", NoteAttrs("when asked"), "p", title="T", priority=3, uris=("project://x", "project://y")),
        ),
        (Kind.QA, State("a", QaAttrs("q?", ("other?",), "s", ("t",), author="me"), "p", title="q?")),
        (Kind.LESSON, State("a", LessonAttrs("planner", ("run",), by_hand=True), "p", title="T")),
    ],
)
def test_a_state_comes_back_through_its_file(kind: Kind, state: State) -> None:
    file = parse(of_state(kind, state, "id").text())
    assert to_state(file, state, "p") == state
    assert of_state(kind, to_state(file, None, "p")).digest() == file.digest()


def test_notes_of_no_project_are_not_for_a_repository() -> None:
    with pytest.raises(InvalidArgument, match="belongs to no project"):
        to_state(note("x", uri="user://me"), None, "p")


def test_secrets_and_private_regions_are_refused_with_their_line() -> None:
    secret = refusal_of("a\nb\ntoken ghp_" + "a1B2" * 9 + "\n")
    private = refusal_of("a\n<private>x</private>\n")
    assert (secret and secret.message.split(":")[0], private and private.message.split(":")[0]) == ("line 3", "line 2")
    assert refusal_of("the token is [REDACTED:github]") is None


def test_edits_in_different_places_are_merged() -> None:
    base = note("1\n2\n3\n4\n5", title="T", priority=5, aliases=("project://o",))
    mine = note("1\n2 mine\n3\n4\n5", title="Mine", priority=5, aliases=("project://o", "project://m"))
    theirs = note("1\n2\n3\n4\n5 theirs", title="T", priority=2, aliases=("project://t",))
    merged = merge(base, mine, theirs, "memory").file
    assert merged is not None
    assert merged.body == "1\n2 mine\n3\n4\n5 theirs"
    assert [merged.get(name) for name in ("title", "priority", "aliases")] == [
        "Mine",
        2,
        ("project://m", "project://t"),
    ]


def test_edits_in_one_place_are_shown_side_by_side_and_either_can_be_chosen() -> None:
    base, mine, theirs = note("1\n2", title="T"), note("1\nmine", title="M"), note("1\ntheirs", title="O")
    merged = merge(base, mine, theirs, "memory, version 3")
    assert merged.file is None
    assert "<<<<<<< file\ntitle: M\n=======\ntitle: O\n>>>>>>> memory, version 3\n" in merged.text
    assert "1\n<<<<<<< file\nmine\n=======\ntheirs\n>>>>>>> memory, version 3\n" in merged.text
    assert marked(merged.text) == 5
    assert parse(resolved(merged.text, mine=True)).digest() == mine.digest()
    assert parse(resolved(merged.text, mine=False)).digest() == theirs.digest()
    assert merge(base, base, theirs, "").text == theirs.text()


LINES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=300)
@given(LINES, LINES, LINES)
def test_a_merge_loses_no_line_that_a_side_added_and_takes_back_none_that_it_removed(
    base: list[str], mine: list[str], theirs: list[str]
) -> None:
    """Each side's own lines are unlike any other: they are all in the result, or in what is shown."""
    own = [f"mine {each}" if at % 3 == 0 else each for at, each in enumerate(mine)]
    other = [f"theirs {each}" if at % 3 == 0 else each for at, each in enumerate(theirs)]
    for merged in (
        merge(note("\n".join(base)), note("\n".join(own)), note("\n".join(other)), "m"),
        side_by_side(note("\n".join(own)), note("\n".join(other)), "m"),
    ):
        lines = merged.text.splitlines()
        assert all(lines.count(each) >= 1 for each in (*own, *other) if " " in each)
        if merged.file is None:
            assert parse(resolved(merged.text, mine=True)).body.count("mine") == "\n".join(own).count("mine")


def test_places_are_safe_whatever_the_address_says() -> None:
    def place(uri: str) -> str:
        return path_of(MemoryFile(Kind.NOTE, "x", {"uri": uri}, "n1"))

    assert place("project://api/login") == "notes/project/api/login.md"
    assert place("project://端口") == "notes/project/端口.md"
    for odd in (
        "project://API",
        "project://a b",
        "project://con",
        "project://.git/config",
        "project://x" * 30,
        "p://..a",
    ):
        path = place(odd)
        assert path.count("-") >= 1
        assert uri_of(path) != odd
        assert not any(part.startswith(".") or part in ("con", "con.md") for part in path.split("/"))
    assert place("project://API") != place("project://api")
    assert (uri_of("notes/project/api/login.md"), uri_of("notes/x.md"), uri_of("answers/a/b.md")) == (
        "project://api/login",
        "",
        "",
    )
