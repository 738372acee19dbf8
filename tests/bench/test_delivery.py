"""A rule is told if the chat that decided it is, and of two the valid one first."""

from __future__ import annotations

from bench import delivery
from bench.delivery import Chat, Task

OLD = Chat("t-0", (("Bill every single unit from the first one on, finance wants that.", "Noted: no grace."),))
NEW = Chat("t-1", (("Finance changed its mind: 25 units of grace before the rounding.", "Amended: grace of 25."),
                   ("And tell the support people about it before Monday please.", "I will."),))  # fmt: skip
OTHER = Chat("d", (("How does the barrel list balance itself when it grows large?", "By splitting."),))
TASK = Task("t", "A customer was billed too much.", "grace of 25 units before rounding", (OLD, NEW))
OWN = delivery.own_words([OLD, NEW, OTHER], [TASK.asked])


def judged(prompt: str, *, start: str = "", stored: str = NEW.text, found: tuple[str, ...] = ()) -> delivery.Told:
    return delivery.judge(TASK, start, prompt, OWN, stored, found)


def test_the_whole_chat_tells_the_rule() -> None:
    seen = judged(NEW.text)
    assert (seen.reached, seen.turns, seen.words, seen.outcome) == (True, 1.0, seen.most_words, "told")
    assert seen.first
    assert seen.old_marked


def test_half_of_the_turns() -> None:
    assert judged(NEW.turns[0][0]).turns == 0.5


def test_where_a_rule_is_lost() -> None:
    assert judged("").outcome == "not found"
    assert judged("", found=("t-1",)).outcome == "not handed over"
    assert judged("", stored="something", found=("t-1",)).outcome == "not stored"
    assert judged(NEW.turns[1][0]).outcome == "drowned"


def test_the_start_counts_too() -> None:
    assert judged("", start=NEW.text).reached


def test_the_old_rule_alone_does_not_reach() -> None:
    seen = judged(OLD.text)
    assert (seen.reached, seen.first, seen.old_marked) == (False, False, False)


def test_the_valid_rule_comes_first_and_the_old_one_is_marked() -> None:
    assert not judged(f"{OLD.text}\n{NEW.text}").first
    seen = judged(f"{NEW.text}\n{OLD.text}")
    assert (seen.first, seen.old_marked) == (True, False)
    seen = judged(f"{NEW.text}\nSuperseded:\n{OLD.text}")
    assert (seen.first, seen.old_marked) == (True, True)


def test_what_two_chats_say_is_nobody_s_own() -> None:
    twin = Chat("twin", NEW.turns)
    assert not delivery.own_words([NEW, twin], [])["t-1"]


def test_amendments_come_after_what_they_amend() -> None:
    noise = [Chat(f"d{at}", ()) for at in range(10)]
    keys = [each.key for each in delivery.order([TASK], noise)]
    assert len(keys) == 12
    assert keys.index("t-0") < keys.index("t-1")


def test_messages_become_turns() -> None:
    said = [{"role": "assistant", "text": "hello"}, {"role": "user", "text": "a"}, {"role": "assistant", "text": "b"},
            {"role": "assistant", "text": "c"}, {"role": "user", "text": "d"}]  # fmt: skip
    assert delivery.chat("x", said).turns == (("a", "c"), ("d", ""))


def test_figures_of_both_parts() -> None:
    told, lost = judged(NEW.text), judged("")
    made = delivery.figures([told, lost], [told, judged(f"{NEW.text}\n{OLD.text}")], 4_000)
    assert (made["chats"], made["reached"], made["turns"]) == (2, 1, 0.5)
    assert (made["amended"], made["amended_first"], made["amended_right"]) == (2, 2, 1)
