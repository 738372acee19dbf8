"""A room as a value: what one capability adds to the product, listed in `codexmem.features`.

Its parts are named as "module:attribute" and loaded when they are needed: help lists commands without loading a server,
and the kernel need not know what a surface or a toolset is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Feature:
    """One room. Which kinds of memory it shows, each of its surfaces says."""

    name: str
    build: str  # a function of the open store (`Kernel`) that makes the room's services
    configured: bool = False  # whether it takes the settings, too
    surfaces: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    commands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by the heading in the help


class Rooms(Protocol):
    """The services of every room on an open store."""

    def room(self, services: type[R], /) -> R:
        """Those of this type; NotReady until the store is open."""
        ...


def load(place: str, kind: type[R]) -> R:
    """What is at "module:attribute"; TypeError if it is not of this kind."""
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, kind):
        raise TypeError(f"{place} is no {kind.__name__}")
    return found
