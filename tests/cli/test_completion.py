"""Completion asked for by real shells, of both programs: what Tab offers, cheaply and in the reader's language."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Call
from tests.cli.test_help import HEAVY

MODULES = {"codexmem": "codexmem.cli", "mem-codecli": "codexmem.codecli.cli"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Both programs on the PATH, as an installation puts them there."""
    for name, module in MODULES.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!{sys.executable}\nfrom {module} import main\nmain()\n")
        program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CODEXMEM_", "LC_", "LANG"))}
    path = f"{tmp_path}/bin{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "PYTHONPATH": f"{ROOT}/src", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}


def bash(words: str, environment: dict[str, str]) -> list[str]:
    """What bash would offer for these words, the last of which is being typed."""
    program, *rest = words.split(" ")
    array = " ".join(f"'{word}'" for word in words.split(" "))
    function = f"_{program.replace('-', '_')}_completion"
    text = f'eval "$({program} completion bash)"; COMP_WORDS=({array}); COMP_CWORD={len(rest)}; {function} {program}'
    done = subprocess.run(["bash", "--norc", "-c", f'{text}; printf "%s\\n" "${{COMPREPLY[@]}}"'], env=environment,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    "words,offered",
    [
        ("codexmem do", ["doctor"]),
        ("codexmem memory ro", ["rollback"]),
        ("codexmem search --proj", ["--project"]),
        ("codexmem completion ", ["bash", "zsh", "fish"]),
        ("mem-codecli po", ["policies"]),
    ],
)
def test_bash_offers_what_there_is(words: str, offered: list[str], environment: dict[str, str]) -> None:
    assert bash(words, environment) == offered


def test_every_command_is_offered_and_none_imported(environment: dict[str, str]) -> None:
    asked = {**environment, "COMP_WORDS": "codexmem", "COMP_CWORD": "", "_CODEXMEM_COMPLETE": "fish_complete"}
    program = (
        "import sys, atexit; sys.argv = ['codexmem'];"
        f"names = {(*HEAVY, 'codexmem.operations.cli.doctor.command')!r};"
        "loaded = lambda: [each for each in names if each in sys.modules];"
        "atexit.register(lambda: print(loaded(), file=sys.stderr)); from codexmem.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**asked, "CODEXMEM_LANG": "zh"}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stderr.strip() == "[]"
    assert "plain,completion\t输出某种 shell 的补全脚本。" in done.stdout


@pytest.mark.parametrize("shell,check", [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
@pytest.mark.parametrize("program", MODULES)
def test_the_script_is_one_that_the_shell_reads(
    program: str, shell: str, check: str, call: Call, environment: dict[str, str], tmp_path: Path
) -> None:
    said = subprocess.run([program, "completion", shell], env=environment, capture_output=True, text=True, check=True)
    script = tmp_path / f"script.{shell}"
    script.write_text(said.stdout)
    if shutil.which(shell) is not None:
        subprocess.run([shell, check, script], check=True, env=environment)
    assert f"_{program.replace('-', '_').upper()}_COMPLETE={shell}_complete" in said.stdout
    if program == "codexmem":
        assert call("completion", shell, "--json").json == {"shell": shell, "script": said.stdout[:-1]}
