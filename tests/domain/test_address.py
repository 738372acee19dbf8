"""Addresses: how everything below one begins."""

from __future__ import annotations

import pytest

from codexmem.kernel.model import address
from codexmem.kernel.model.errors import InvalidArgument


@pytest.mark.parametrize(
    "text,beginning",
    [
        ("project://", "project://"), (" Project:// ", "project://"), ("project:///", "project://"),
        ("project://a", "project://a/"), ("project://a/", "project://a/"), ("Project://配置//b/", "project://配置/b/"),
    ],
)  # fmt: skip
def test_a_folder_is_what_the_addresses_below_begin_with(text: str, beginning: str) -> None:
    assert address.folder(text) == beginning
    assert address.normalise(f"{beginning}x").startswith(beginning)


@pytest.mark.parametrize("text", ["project", "://", "://a", "1a://", "project:/a", "project://a/../b"])
def test_what_begins_no_address(text: str) -> None:
    with pytest.raises(InvalidArgument):
        address.folder(text)
