"""What we say in Chinese, by its parts; the rest is in `messages_zh`."""

from codexmem.cli.messages_zh_across import ACROSS
from codexmem.cli.messages_zh_doctor import DOCTOR
from codexmem.cli.messages_zh_install import INSTALL
from codexmem.cli.messages_zh_lab import LAB
from codexmem.cli.messages_zh_moving import MOVING
from codexmem.cli.messages_zh_qa import QA
from codexmem.cli.messages_zh_runs import RUNS

PARTS: dict[str, str] = {**MOVING, **LAB, **ACROSS, **QA, **RUNS, **INSTALL, **DOCTOR}
