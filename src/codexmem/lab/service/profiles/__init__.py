"""Profiles: who answers a request in a laboratory, with which tools, and what an answer looks like.

A profile is a file, so another laboratory brings its own roles, knowledge and answers without code. What is shipped is
one example among others. The format is described in docs/profiles.md.
"""

from codexmem.lab.service.profiles.profile import (
    SHIPPED,
    TOOLS,
    Cited,
    Namespace,
    Profile,
    Role,
    RunLimits,
    load,
    profile_of,
)

__all__ = ["SHIPPED", "TOOLS", "Cited", "Namespace", "Profile", "Role", "RunLimits", "load", "profile_of"]
