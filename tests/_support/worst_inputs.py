"""Every compiled pattern of a package, the inputs on which it works longest, and how many steps it takes for them.

The steps are counted by a matcher that tries what `re` tries, in the same order, without its shortcuts. A count is the
same on every machine, so that a few dozen characters show what grows faster than the text. Long bounds are read as
short ones: they are factors, however large.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

# How the standard library takes a pattern apart; it has no types and no promise.
compiler, op, parser = (importlib.import_module(f"re.{name}") for name in ("_compiler", "_constants", "_parser"))
_POOL = " \n\ta A0_-/.<`:#\"'\\([{*>&;,=@~+?|!\u4e2d\u4e00\u3000\u0300\u201c\x1b"
MOST = 60_000  # steps: nothing linear takes as many for a few dozen characters
_LONG = 16  # a repetition that may be longer counts as one without end
_SINGLE = (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_SAMPLES = {op.CATEGORY_DIGIT: "0", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a", op.CATEGORY_NOT_WORD: " "}

Match = Callable[[int, Callable[[int], bool]], bool]


def modules(package: str) -> Iterator[ModuleType]:
    """Every module of a package of ours; what runs a program on import is left out."""
    found = importlib.import_module(package)
    yield found
    for each in pkgutil.walk_packages(found.__path__, f"{package}."):
        if not each.name.endswith(("__main__", ".migrations.env")):
            yield importlib.import_module(each.name)


def patterns(package: str) -> dict[str, tuple[re.Pattern[str], bool]]:
    """Patterns by `module:name`, and whether each is only tried where a text begins."""
    found: dict[str, tuple[re.Pattern[str], bool]] = {}
    for module in modules(package):
        source = inspect.getsource(module)
        written = [re.compile(each) for each in in_functions(source) if each is not None]
        for name, value in {**vars(module), "in functions": written}.items():
            if name != "in functions" and not re.search(rf"(?m)^{name}\b[^=\n]*=", source):
                continue  # another module's
            uses = set(re.findall(rf"(?<![\w.]){name}\.(\w+)", source))
            for at, pattern in enumerate(_inside(value, 0)):
                if pattern not in (each for each, _ in found.values()):
                    anchored = isinstance(value, re.Pattern) and bool(uses) and uses <= {"match", "fullmatch"}
                    found[f"{module.__name__}:{name}{at or ''}"] = pattern, anchored
    return found


def in_functions(source: str) -> Iterator[str | None]:
    """Patterns that functions give to `re`; None for one that is put together there."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for call in ast.walk(function):
                match call:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[first, *_]):
                        if name not in {"escape", "match", "fullmatch"}:
                            yield str(first.value) if isinstance(first, ast.Constant) else None


def _inside(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _inside(each, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        yield from _inside([*value.keys(), *value.values()], depth + 1)
    elif depth < 4 and type(value).__module__.startswith("codexmem.") and hasattr(value, "__dict__"):
        later = [name for name, each in vars(type(value)).items() if isinstance(each, functools.cached_property)]
        yield from _inside([*(getattr(value, name) for name in later), *vars(value).values()], depth + 1)


def inputs(pattern: re.Pattern[str], most: int) -> Iterator[tuple[str, str, str]]:
    """Beginning, what is repeated, and end: for each long repetition of the pattern a few things that it can read."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    found: dict[tuple[str, str, str], None] = {}
    for prefix, body, flags in _repetitions(tree, "", pattern.flags):
        units = [*[each for each in _POOL if _reads(body, flags, each)][:most], _sample(body) or "a"]
        for unit in dict.fromkeys(units):
            found |= {(prefix, unit, "\0"): None, ("", prefix + unit, ""): None}
    if found and (whole := _sample(tree)):
        found["", whole[:-1] or whole, "\0"] = None
    yield from found


def _repetitions(tree: Any, prefix: str, flags: int) -> Iterator[tuple[str, Any, int]]:
    """What each long repetition repeats, after the shortest text that leads there."""
    for code, value in tree:
        if code in _REPEATS:
            if value[1] > _LONG:
                yield prefix, value[2], flags
            yield from _repetitions(value[2], prefix, flags)
        elif code is op.BRANCH:
            for branch in value[1]:
                yield from _repetitions(branch, prefix, flags)
        elif code is op.SUBPATTERN:
            yield from _repetitions(value[3], prefix, (flags | value[1]) & ~value[2])
        elif code is op.ATOMIC_GROUP:
            yield from _repetitions(value, prefix, flags)
        elif code in (op.ASSERT, op.ASSERT_NOT):
            yield from _repetitions(value[1], prefix, flags)
        prefix += _sample([(code, value)])


def _reads(body: Any, flags: int, text: str) -> bool:
    return compiler.compile(body, flags).fullmatch(text) is not None


def _sample(tree: Any) -> str:
    """A shortest text of the pattern."""
    made = ""
    for code, value in tree:
        if code is op.LITERAL:
            made += chr(value)
        elif code is op.IN and value[0][0] is not op.NEGATE:
            kind, said = value[0]
            made += _SAMPLES.get(said, "a") if kind is op.CATEGORY else chr(said[0] if kind is op.RANGE else said)
        elif code in (op.IN, op.ANY, op.NOT_LITERAL):
            refused = [value] if code is op.NOT_LITERAL else [each for _, each in value or ()]
            made += "a" if ord("a") not in refused else "~"
        elif code is op.BRANCH:
            made += _sample(value[1][0])
        elif code is op.SUBPATTERN:
            made += _sample(value[3])
        elif code in _REPEATS:
            made += _sample(value[2]) * value[0]
        elif code is op.ATOMIC_GROUP:
            made += _sample(value)
        elif code is op.ASSERT and value[0] < 0:
            made += _sample(value[1])
    return made


def steps(pattern: re.Pattern[str], text: str, anchored: bool) -> int:
    """How many characters and places are tried: at the beginning of the text, or all over it."""
    return _Matcher(pattern, text).tried(anchored)


class _Matcher:
    """A pattern over one text: each part is a function of a place and of what has to follow."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._text = text
        self._count = 0
        self._groups: dict[int, str] = {}
        tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self._matches = self._sequence(tree, pattern.flags)

    def tried(self, anchored: bool) -> int:
        place = 0
        deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(50_000)
        try:
            while place <= len(self._text) and self._count <= MOST:
                self._count += 1
                ended: list[int] = []
                self._matches(place, lambda at, ended=ended: not ended.append(at))  # type: ignore[misc]
                place = max([place + 1, *ended]) if not anchored else len(self._text) + 1
        finally:
            sys.setrecursionlimit(deepest)
        return self._count

    def _sequence(self, tree: Any, flags: int) -> Match:
        parts = [self._part(tree, code, value, flags) for code, value in tree]

        def match(place: int, then: Callable[[int], bool], at: int = 0) -> bool:
            self._count += 1
            if at == len(parts) or self._count > MOST:
                return then(place)
            return parts[at](place, lambda reached: match(reached, then, at + 1))

        return match

    def _part(self, tree: Any, code: Any, value: Any, flags: int) -> Match:
        if code in _SINGLE:
            return self._repeated(self._one(tree, code, value, flags), 1, 1, code)
        if code in _REPEATS:
            least, most, body = value
            most = max(least, 3) if _LONG < most < op.MAXREPEAT else most
            if len(body) == 1 and body[0][0] in _SINGLE:
                return self._repeated(self._one(body, body[0][0], body[0][1], flags), least, most, code)
            inner = self._sequence(body, flags)
            again = functools.partial(self._again, inner, least, most, code is op.MIN_REPEAT)
            return self._atomic(again) if code is op.POSSESSIVE_REPEAT else again
        if code is op.SUBPATTERN:
            return self._group(value[0], self._sequence(value[3], (flags | value[1]) & ~value[2]))
        if code is op.BRANCH:
            return functools.partial(
                self._any, [(self._first(each, flags), self._sequence(each, flags)) for each in value[1]]
            )
        if code is op.ATOMIC_GROUP:
            return self._atomic(self._sequence(value, flags))
        if code in (op.ASSERT, op.ASSERT_NOT):
            return self._looked(value[0], self._sequence(value[1], flags), value[1].getwidth()[0], code is op.ASSERT)
        if code is op.GROUPREF:
            return lambda place, then: (
                self._text.startswith(self._groups.get(value, "\0"), place)
                and then(place + len(self._groups.get(value, "\0")))
            )
        known = compiler.compile(parser.SubPattern(tree.state, [(code, value)]), flags)  # ^, $, \b
        return lambda place, then: known.match(self._text, place) is not None and then(place)

    def _one(self, tree: Any, code: Any, value: Any, flags: int) -> Callable[[int], bool]:
        """Whether one character is what stands in a pattern for one."""
        known = compiler.compile(parser.SubPattern(tree.state, [(code, value)]), flags)
        answers = {each: known.match(each) is not None for each in set(self._text)}
        return lambda place: place < len(self._text) and answers[self._text[place]]

    def _repeated(self, reads: Callable[[int], bool], least: int, most: int, code: Any) -> Match:
        def match(place: int, then: Callable[[int], bool]) -> bool:
            reached = place
            if code is op.MIN_REPEAT:
                while True:
                    self._count += 1
                    if reached - place >= least and then(reached):
                        return True
                    if reached - place == most or not reads(reached):
                        return False
                    reached += 1
            while reached - place < most and reads(reached):
                reached += 1
            self._count += reached - place + 1
            lowest = reached if code is op.POSSESSIVE_REPEAT else place + least
            if reached - place >= least:
                # No generator, which would use the stack of C.
                for each in range(reached, lowest - 1, -1):
                    if then(each):
                        return True
            return False

        return match

    def _first(self, tree: Any, flags: int) -> Callable[[int], bool]:
        """Whether a branch may begin at a place."""
        begins = len(tree) and tree[0][0] in _SINGLE
        return self._one(tree, tree[0][0], tree[0][1], flags) if begins else lambda place: True

    def _any(
        self, branches: list[tuple[Callable[[int], bool], Match]], place: int, then: Callable[[int], bool]
    ) -> bool:
        self._count += len(branches)
        for begins, each in branches:  # noqa: SIM110
            if begins(place) and each(place, then):
                return True
        return False

    def _again(
        self, inner: Match, least: int, most: int, lazy: bool, place: int, then: Callable[[int], bool], done: int = 0
    ) -> bool:
        def more() -> bool:
            return done < most and inner(
                place, lambda at: at > place and self._again(inner, least, most, lazy, at, then, done + 1)
            )

        self._count += 1
        if done < least:
            return inner(place, lambda at: self._again(inner, least, most, lazy, at, then, done + 1))
        return then(place) or more() if lazy else more() or then(place)

    def _group(self, number: int | None, inner: Match) -> Match:
        if number is None:
            return inner

        def match(place: int, then: Callable[[int], bool]) -> bool:
            def kept(at: int) -> bool:
                self._groups[number] = self._text[place:at]
                return then(at)

            return inner(place, kept)

        return match

    def _atomic(self, inner: Match) -> Match:
        def match(place: int, then: Callable[[int], bool]) -> bool:
            ended: list[int] = []
            return inner(place, lambda at: not ended.append(at)) and then(ended[0])  # type: ignore[func-returns-value]

        return match

    def _looked(self, direction: int, inner: Match, width: int, wanted: bool) -> Match:
        def match(place: int, then: Callable[[int], bool]) -> bool:
            begin = place - width if direction < 0 else place
            found = begin >= 0 and inner(begin, lambda at: True)
            return found is wanted and then(place)

        return match
