"""All that `mem-codecli` says, in both languages, from the files of its parts."""

from codexmem.cli import messages
from codexmem.cli.codecli import (
    messages_en,
    messages_en_doctor,
    messages_en_policy,
    messages_en_run,
    messages_zh,
    messages_zh_doctor,
    messages_zh_policy,
    messages_zh_run,
)

ENGLISH: dict[str, str] = {
    **messages_en.EN,
    **messages_en_doctor.DOCTOR,
    **messages_en_run.RUN,
    **messages_en_policy.POLICY,
}
CHINESE: dict[str, str] = {
    **messages_zh.ZH,
    **messages_zh_doctor.DOCTOR,
    **messages_zh_run.RUN,
    **messages_zh_policy.POLICY,
}


def learn() -> None:
    """Let the commands say it."""
    messages.learn(ENGLISH, CHINESE)
