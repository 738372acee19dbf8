"""Every setting, where its value may come from, and which one wins.

This is the only place that reads the environment; everything else receives values. A key that nobody knows is an
error, because a mistyped setting that is silently ignored is worse than none. A project file may not say where memories
live or who may read them: it comes with a checkout, and a checkout may come from anybody.
"""

from codexmem.settings.sources import PROJECT_FILE, load, project_file, user_file
from codexmem.settings.table import BY_NAME, PREFIX, SETTINGS, Setting
from codexmem.settings.terminal import Terminal, is_person, terminal
from codexmem.settings.values import Settings, field_names, masked

__all__ = [
    "BY_NAME",
    "PREFIX",
    "PROJECT_FILE",
    "SETTINGS",
    "Setting",
    "Settings",
    "Terminal",
    "field_names",
    "is_person",
    "load",
    "masked",
    "project_file",
    "terminal",
    "user_file",
]
