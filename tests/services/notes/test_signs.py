"""What contexts say about themselves: paths, tracebacks of several languages, and words."""

from __future__ import annotations

import pytest

from codexmem.notes.model import ContextKind
from codexmem.notes.service import preload
from codexmem.notes.service.preload import ContextTerms, alike, may_be_misspelt

PYTHON = """Traceback (most recent call last):
  File "/srv/app/src/shop/ledger.py", line 42, in settle
    self._db.commit()
sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked
"""
JAVASCRIPT = """TypeError: Cannot read properties of undefined (reading 'total')
    at renderCart (/srv/web/cart.js:12:7)
    at Object.<anonymous> (/srv/web/index.js:3:1)
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: queue is closed
\tat com.shop.Orders.drain(Orders.java:88)
"""
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.settle(...)
\t/srv/app/ledger.go:17 +0x1d
"""
RUST = "error[E0382]: borrow of moved value: `order`\n  --> src/ledger.rs:7:5\n"


def held(found: ContextTerms) -> dict[str, float]:
    return {sign.text: sign.weight for sign in found.phrases}


@pytest.mark.parametrize("text, phrases, said", [
    (PYTHON, {"OperationalError", "ledger.py", "settle"}, "database is locked"),
    (JAVASCRIPT, {"TypeError", "cart.js", "renderCart"}, "Cannot read properties of undefined"),
    (JAVA, {"IllegalStateException", "Orders.java", "drain"}, "queue is closed"),
    (GO, {"ledger.go"}, "index out of range"),
    (RUST, {"E0382", "ledger.rs"}, "borrow of moved value"),
    ("ECONNREFUSED 127.0.0.1:5432", {"ECONNREFUSED"}, "ECONNREFUSED"),
    ("数据库连接超时，请稍后再试", set(), "数据库连接超时"),
])  # fmt: skip
def test_an_error_has_a_class_a_message_and_frames(text: str, phrases: set[str], said: str) -> None:
    found = preload.read(ContextKind.ERROR, text)
    assert phrases <= set(held(found))
    assert said in found.said
    assert "0x1d" not in found.said


def test_a_file_has_ends_a_name_and_parents() -> None:
    found = preload.read(ContextKind.FILE, "/home/me/shop/src/ledger/settle.py")
    weights = held(found)
    assert weights["home/me/shop/src/ledger/settle.py"] == 1.0
    assert weights["ledger/settle.py"] > weights["settle.py"] > weights["src/ledger"] > weights["ledger"]
    assert "src" not in weights  # every project has one
    assert found.names == ("settle.py", "settle")
    assert held(preload.read(ContextKind.FILE, "C:\\work\\orders.py"))["work/orders.py"] > 0


def test_a_directory_asks_for_structure() -> None:
    found = preload.read(ContextKind.DIRECTORY, "./src/支付/")
    assert (found.structural, held(found)["src/支付"], found.names) == (True, 1.0, ("支付",))
    assert "结构" in found.query


@pytest.mark.parametrize("context", [ContextKind.FILE, ContextKind.DIRECTORY])
@pytest.mark.parametrize("text", ["/", ".", "..//..", "~"])
def test_a_path_that_names_nothing(context: ContextKind, text: str) -> None:
    assert preload.read(context, text) == ContextTerms("")


def test_an_intent_has_runs_of_words() -> None:
    found = preload.read(ContextKind.INTENT, "What's Mara's dead-letter policies?")
    assert {"mara", "dead letter", "policies", "policy", "mara dead letter policy"} <= set(found.names)
    assert len(preload.read(ContextKind.INTENT, "word " * 50_000).names) < 3_000


@pytest.mark.parametrize("word, name, same", [
    ("typscript", "typescript", True), ("typsecript", "typescript", True), ("reedis", "redis", True),
    ("eror", "error", True), ("mongod", "mongo", True), ("deplayment", "deployment", True),
    ("mango", "mongo", False), ("shape", "share", False), ("redis", "redis", False), ("abcd", "abce", False),
    ("ledger", "ledgers", True), ("kubernetes", "kubectl", False),
])  # fmt: skip
def test_one_slip_of_the_finger(word: str, name: str, same: bool) -> None:
    assert alike(word, name) == same
    assert may_be_misspelt(word)


def test_short_words_and_numbers_are_taken_as_they_are() -> None:
    assert not any(map(may_be_misspelt, ("k8s", "k9s", "the", "12345", "数据库主库")))
