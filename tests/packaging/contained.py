"""The image's program as a container would run it, where there is no container engine.

`python -m tests.packaging.contained`, as root on Linux: in a mount and process namespace of its own, with every file
system read-only but the data directory and /tmp, as user 65532 without any capability, as process 1. It must become
ready, keep and find a memory, refuse whoever has no key, write nowhere else, and end with 0 on SIGTERM. What the
Dockerfile says of entry point, command, user and environment is read from it. No image is built and no registry asked.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

from tests.packaging.building import ROOT, build
from tests.packaging.fresh import Fresh, from_here

DOCKERFILE = ROOT / "deploy" / "container" / "Dockerfile"
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    PORT: int = probe.getsockname()[1]
# Every mount but our data becomes read-only, then the program takes the place of this shell as process 1.
ENTER = """
set -euo pipefail
mount --make-rprivate /
mount --bind {data} {data}
mount -t tmpfs -o mode=1777,size=64m tmpfs /tmp
while read -r _ place _; do
    case $place in {data}|/tmp|/proc|/proc/*|/sys|/sys/*|/dev|/dev/*) ;; *) mount -o remount,bind,ro "$place" ;; esac
done < <(sort -r /proc/self/mounts)
cd {data}
if touch {library}/written 2>/dev/null; then echo "the root file system can be written" >&2; exit 3; fi
exec setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \\
    env -i {environment} {program}
"""


def described() -> tuple[str, dict[str, str], list[str]]:
    """User, environment and command of the image."""
    text = DOCKERFILE.read_text().replace("\\\n", " ")
    last = text[text.rindex("\nFROM ") :]
    user = re.search(r"^USER (\d+):(\d+)$", last, re.MULTILINE)
    assert user is not None
    assert user.group(1) == user.group(2) != "0"
    line = re.search(r"^ENV (.*)$", last, re.MULTILINE)
    assert line is not None
    environment = dict(part.split("=", 1) for part in line.group(1).split())
    words = [json.loads(found) for found in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", last, re.MULTILINE)]
    return user.group(1), environment, [word for part in words for word in part]


def main() -> int:
    """Run it and look."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise SystemExit("error: needs root and unshare (util-linux), on Linux")
    with tempfile.TemporaryDirectory(prefix="codexmem-contained-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        wheel = build(ROOT, Path(folder, "dist"), kinds=["wheel"], web=False)["wheel"]
        fresh = from_here(Path(folder, "opt"), wheel)
        data = Path(folder, "data")
        data.mkdir(mode=0o700)
        user, environment, command = described()
        os.chown(data, int(user), int(user))
        told = {**environment, "HOME": str(data), "CODEXMEM_DATA_DIR": str(data), "CODEXMEM_PORT": str(PORT)}
        told |= {"PATH": f"{fresh.folder}/bin:/usr/bin:/bin", "XDG_CONFIG_HOME": f"{folder}/etc"}
        program = [_readable(fresh), "-m", "codexmem.cli", *command[1:]]
        told["PYTHONPATH"] = str(fresh.library)
        script = ENTER.format(
            data=data, library=fresh.library, user=user, program=shlex.join(program),
            environment=shlex.join(f"{name}={value}" for name, value in told.items()),
        )  # fmt: skip
        entered = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script]
        log = Path(folder, "log")
        with log.open("w") as said, subprocess.Popen(entered, stderr=said, stdout=said) as process:
            try:
                _look(process, data, log)
                _end(process)
            finally:
                if process.poll() is None:
                    os.kill(_inside(process), signal.SIGKILL)  # with process 1 everything in there goes
        written = sorted(str(path.relative_to(data)) for path in data.rglob("*"))
        _say(f"written, all of it in the data directory: {', '.join(written)}")
        return 0 if process.returncode == 0 else 1


def _readable(fresh: Fresh) -> str:
    """An interpreter that another user may run; a developer's own often lies in a closed home."""
    own = fresh.python.resolve()
    closed = any(not parent.stat().st_mode & 0o005 for parent in own.parents)
    found = (
        shutil.which(f"python3.{sys.version_info.minor}", path="/usr/local/bin:/usr/bin")
        if closed
        else str(fresh.python)
    )
    if found is None:
        raise SystemExit(f"error: {own} lies in a closed folder, and there is no other Python of its version")
    return found


def _look(process: subprocess.Popen[bytes], data: Path, log: Path) -> None:
    deadline = time.monotonic() + 30
    while (said := _get("/api/readiness"))[0] != 200:
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"error: it did not become ready\n{log.read_text()[-2000:]}")
        time.sleep(0.2)
    _say(f"ready as user {_owner(process)}: {said[1]}")
    unknown = _get("/api/health", host="10.1.2.3")[0]
    _say(f"without a key: {_get('/api/search?query=x')[0]}; by a name that is not ours: {unknown}")
    key = (data / "token").read_text().strip()
    about = {"contentSessionId": "s", "project": "p", "prompt": "The harbour opens at six"}
    kept = _get("/api/sessions/init", key=key, body=json.dumps(about))
    found = _get("/api/search?query=harbour", key=key)
    assert (kept[0], found[0]) == (200, 200), (kept, found)
    assert "The harbour opens at six" in found[1], found
    _say("a memory was kept and found")


def _owner(process: subprocess.Popen[bytes]) -> str:
    """Who the program is, as the kernel says, with what it may do."""
    status = Path(f"/proc/{_inside(process)}/status").read_text()
    found = dict(re.findall(r"^(Uid|CapEff|NoNewPrivs|NSpid):\s+(.*)$", status, re.MULTILINE))
    return f"{found['Uid'].split()[0]}, capabilities {found['CapEff']}, process {found['NSpid'].split()[-1]}"


def _inside(process: subprocess.Popen[bytes]) -> int:
    """The program as it is numbered outside."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    os.kill(_inside(process), signal.SIGTERM)
    process.wait(30)
    _say(f"ended with {process.returncode} on SIGTERM")


def _get(path: str, *, key: str = "", host: str = f"localhost:{PORT}", body: str | None = None) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", PORT, timeout=20)
    headers = {"Host": host} | ({"Authorization": f"Bearer {key}"} if key else {})
    headers |= {"Content-Type": "application/json"} if body else {}
    try:
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError as error:
        return 0, str(error)
    finally:
        connection.close()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
