"""What we say in Chinese, by its parts; the rest is in `zh`."""

from codexmem.cli.messages.zh_across import ACROSS
from codexmem.cli.messages.zh_daily import DAILY
from codexmem.cli.messages.zh_doctor import DOCTOR
from codexmem.cli.messages.zh_install import INSTALL
from codexmem.cli.messages.zh_lab import LAB
from codexmem.cli.messages.zh_moving import MOVING
from codexmem.cli.messages.zh_qa import QA
from codexmem.cli.messages.zh_runs import RUNS

PARTS: dict[str, str] = {**MOVING, **LAB, **ACROSS, **QA, **RUNS, **INSTALL, **DOCTOR, **DAILY}
