"""Bytes from one descriptor to another: what passes is looked at afterwards, and one can wait for that."""

from __future__ import annotations

import os
import threading

from codexmem.codecli.child.pump import Pump, Stop, pipe


def test_whoever_answers_what_was_delivered_can_wait_until_it_was_looked_at() -> None:
    near, far = pipe()
    delivered, may_look = threading.Event(), threading.Event()
    seen: list[bytes] = []

    def deliver(piece: bytes) -> None:
        delivered.set()

    def see(piece: bytes) -> None:
        may_look.wait(5)
        seen.append(piece)

    pump = Pump("from-1", near, deliver, see, Stop(), drains=True)
    pump.start()
    os.write(far, b"the answer")
    assert delivered.wait(5)
    pump.looked(0.05)
    assert seen == []  # not for ever: looking may itself wait for the person
    may_look.set()
    pump.looked(5)
    assert seen == [b"the answer"]
    os.close(far)
    pump.join(5)
    os.close(near)
