"""Pictures of where time goes: what is counted is what ran, and what is drawn is what was counted."""

from __future__ import annotations

import re
import time
from collections import Counter
from xml.etree import ElementTree

from bench import flame


def busy(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_what_ran_is_counted_below_the_caller() -> None:
    with flame.sampled() as found:
        busy(0.3)
    assert found.seconds >= 0.3
    assert sum(found.stacks.values()) > 5
    assert {stack[0] for stack in found.stacks if stack} == {f"{__name__}.busy"}
    before = sum(found.stacks.values())
    busy(0.05)
    assert sum(found.stacks.values()) == before


def test_a_box_is_as_wide_as_its_share_and_lies_under_its_caller() -> None:
    drawn = flame.picture(Counter({("a", "b"): 60, ("a",): 20, ("c<1>",): 19, ("a", "rare"): 1}), "a <title>")
    root = ElementTree.fromstring(drawn)
    space = {"s": "http://www.w3.org/2000/svg"}
    boxes = {}
    for group in root.findall("s:g", space):
        title, box = group.find("s:title", space), group.find("s:rect", space)
        assert title is not None
        assert box is not None
        boxes[re.sub(r": .*", "", title.text or "")] = {name: float(box.attrib[name]) for name in ("x", "y", "width")}
    assert {name: box["width"] for name, box in boxes.items()} == {"a": 810.0, "b": 600.0, "c<1>": 190.0, "rare": 10.0}
    assert boxes["a"]["x"] <= boxes["b"]["x"]
    assert boxes["b"]["x"] + boxes["b"]["width"] <= boxes["a"]["x"] + boxes["a"]["width"]
    assert boxes["a"]["y"] < boxes["b"]["y"]
    assert boxes["c<1>"]["x"] >= 810.0
    assert "rare" not in flame.picture(Counter({("a",): 999, ("rare",): 1}), "small shares are left out")
