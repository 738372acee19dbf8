"""JSON without the `json` package, which loads regular expressions and doubles the time a hook takes.

The package is a wrapper around two functions in C, which are called here directly. Where they are missing (other
Pythons than CPython) or behave differently, the package itself is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\n\r"


class _Reading:
    """What the scanner asks of its context: JSON as it is, with line breaks in strings and without hooks."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(_: str) -> None:
        """NaN and the infinities are no JSON; nothing takes their place."""


def _quick() -> tuple[Callable[[str, int], Any], Callable[[Any, bool], str]]:
    import _json

    scan = _json.make_scanner(_Reading)  # type: ignore[arg-type]  # it only looks at these attributes
    writers = [
        _json.make_encoder(None, _refuse, quoted, None, ":", ",", False, False, True)
        for quoted in (_json.encode_basestring, _json.encode_basestring_ascii)
    ]
    assert scan('{"a":[1]}', 0) == ({"a": [1]}, 9)
    assert "".join(writers[1]({"a": ["é", None]}, 0)) == '{"a":["\\u00e9",null]}'
    return scan, lambda value, plain: "".join(writers[plain](value, 0))


def _slow(number: Callable[[str], Any] = int) -> tuple[Callable[[str, int], Any], Callable[[Any, bool], str]]:
    import json

    decoder = json.JSONDecoder(strict=False, parse_int=number, parse_constant=_Reading.parse_constant)
    scan: Callable[[str, int], Any] = decoder.scan_once  # type: ignore[attr-defined]
    return scan, lambda value, plain: json.dumps(value, ensure_ascii=plain, separators=(",", ":"))


def _long_number(digits: str) -> int | str:
    return int(digits) if len(digits) < 4000 else digits


def _refuse(value: object) -> str:
    raise TypeError(f"{type(value).__name__} is no JSON")


try:
    _scan, _write = _quick()
except (ImportError, AttributeError, TypeError, AssertionError):
    _scan, _write = _slow()


def loads(text: str) -> Any:
    """The value of a JSON text; ValueError if it is none, also if it is nested beyond reason."""
    begin = len(text) - len(text.lstrip(_SPACE))
    try:
        try:
            value, end = _scan(text, begin)
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            # A number of thousands of digits, which Python does not convert; it is kept as text.
            value, end = _slow(_long_number)[0](text, begin)
    except (StopIteration, SystemError):
        # The second is how the function fails where the package, which holds its error, was never loaded.
        raise ValueError("no JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text[end:].strip(_SPACE):
        raise ValueError("more than one value")
    return value


def dumps(value: Any, *, plain: bool = False) -> str:
    """The value as JSON without spaces; `plain` keeps to ASCII."""
    return _write(value, plain)
