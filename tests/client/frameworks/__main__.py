"""Install, or pin anew."""

import sys

from tests._support import npm_packages
from tests.client import frameworks

if sys.argv[1:] == ["lock"]:
    raise SystemExit(npm_packages.write_lock(frameworks.HERE))
frameworks.install()
