"""Contract 001 §2.2, §4.3: a run beside the memory of each engine; the other files of this folder take SQLite's."""

from __future__ import annotations

import json

from tests.contracts.codecli.wrapped import QUESTION, READS_ALL, Wrapped


def test_memory_goes_before_a_prompt_and_what_was_shown_is_told(wrapped: Wrapped) -> None:
    qa_id = wrapped.knows()
    wrapped.agent(READS_ALL)
    done = wrapped.pipe(f"{QUESTION}\n".encode(), "exec")
    assert json.loads(done.stdout) == ["exec"]  # no word of the command line was touched
    assert wrapped.received.startswith("<codexmem-context>\n")
    assert f"[QA_REF {qa_id}]" in wrapped.received
    assert wrapped.received.endswith(f"</codexmem-context>\n\n{QUESTION}\n")
    assert wrapped.shown() == 1
