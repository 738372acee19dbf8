"""The web application's packages are locked exactly, for every platform, whatever registry serves them."""

from __future__ import annotations

import json

from tests.web import building


def test_the_lock_names_no_host_and_every_platform() -> None:
    lock = json.loads(building.LOCK.read_text(encoding="utf-8"))
    packages = lock["packages"]
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert not [name for name, package in packages.items() if name and "integrity" not in package]
    # npm leaves out what it could not find on the day it wrote the lock; then others could not install.
    assert len([name for name in packages if "/@rolldown/binding-" in name]) >= 15


def test_pins_are_exact() -> None:
    wanted = json.loads((building.WEB / "package.json").read_text(encoding="utf-8"))
    versions = {**wanted["dependencies"], **wanted["devDependencies"], **wanted["overrides"]}
    assert not [name for name, version in versions.items() if not version[0].isdigit()]
