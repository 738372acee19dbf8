"""A recording holds exactly the bytes that passed, no secrets of the start, and never fails a run."""

from __future__ import annotations

import json
import resource
import threading
from pathlib import Path

import pytest

from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.recording import Ended, RecordedBytes, Recorder, Recording, read
from codexmem.kernel.model.errors import InvalidArgument, NotFound

LAUNCH = Launch(("codex", "exec", "列出文件"), {"TERM": "xterm", "HOME": "/home/somebody"}, "/srv/商店")


def played(path: Path) -> tuple[Recording, list[RecordedBytes | Ended]]:
    recording = read(path)
    return recording, list(recording.play())


def test_every_byte_comes_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, LAUNCH, adapter="codex")
    pieces = [
        ("stdin", b"go\n"), ("stdout", "你好".encode()[:4]), ("stdout", "你好".encode()[4:]),
        ("stderr", bytes(range(256))), ("terminal", b"\x1b[31mred\x1b[0m\r\n"), ("stdout", b""),
        ("stdout", "\u2028\ufeff".encode()),
    ]  # fmt: skip
    for stream, piece in pieces:
        recorder.wrote(stream, piece)
    recorder.ended(3)
    recording, found = played(path)
    assert [(each.stream, each.piece) for each in found if isinstance(each, RecordedBytes)] == pieces
    assert isinstance(found[-1], Ended)
    assert found[-1].code == 3
    times = [each.at for each in found]
    assert times == sorted(times)
    assert (recording.argv, recording.cwd, recording.adapter) == (LAUNCH.argv, LAUNCH.cwd, "codex")
    assert recording.launch == Launch(LAUNCH.argv, {"TERM": "xterm"}, LAUNCH.cwd)
    assert recorder.problem == ""


def test_the_environment_is_kept_by_name_and_arguments_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    secret, other = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "correct-horse-battery"
    environ = {"OPENAI_API_KEY": other, "PATH": "/home/somebody/bin", "LANG": "zh_CN.UTF-8"}
    argv = ("agent", f"--header=Authorization: Bearer {secret}", "--api-key", "short", "-c", f"key={other}", "go")
    Recorder(path, Launch(argv, environ, "/")).ended(0)
    text = path.read_text()
    assert secret not in text
    assert other not in text
    assert "/home/somebody" not in text
    head = json.loads(text.splitlines()[0])
    assert head["environ"] == {"LANG": "zh_CN.UTF-8", "OPENAI_API_KEY": None, "PATH": None}
    assert head["argv"][0] == "agent"
    assert head["argv"][2:4] == ["--api-key", "[REDACTED:argument]"]
    assert head["argv"][-1] == "go"
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, LAUNCH)

    def write(stream: str) -> None:
        for number in range(300):
            recorder.wrote(stream, f"{number}\n".encode())

    threads = [threading.Thread(target=write, args=(stream,)) for stream in ("stdin", "stdout", "stderr")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.ended(0)
    _, found = played(path)
    for stream in ("stdin", "stdout", "stderr"):
        said = b"".join(each.piece for each in found if isinstance(each, RecordedBytes) and each.stream == stream)
        assert said == b"".join(b"%d\n" % number for number in range(300))


def test_what_is_told_after_the_end_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, LAUNCH)
    recorder.ended(-9)
    recorder.wrote("stdout", b"late")
    recorder.ended(0)
    _, found = played(path)
    assert found == [Ended(found[0].at, -9)]


def test_a_full_recording_ends_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    notes: list[str] = []
    recorder = Recorder(path, LAUNCH, most_bytes=1_000, note=notes.append)
    for _ in range(100):
        recorder.wrote("stdout", b"x" * 100)
    recorder.ended(0)
    assert "is full" in recorder.problem
    assert notes == [recorder.problem]
    assert path.stat().st_size < 1_200
    _, found = played(path)
    assert 1 < len(found) < 100
    assert isinstance(found[-1], Ended)
    assert found[-1].code is None


def test_a_full_disk_ends_the_recording_and_not_the_run(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl", LAUNCH)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # as good as a full disk: writing fails from there on
    try:
        for _ in range(300):
            recorder.wrote("stdout", b"x" * 1000)
        recorder.ended(0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert recorder.problem.endswith("ends here: File too large")
    _, found = played(tmp_path / "run.jsonl")
    assert len(found) > 50
    assert found[-1] == Ended(found[-1].at, None)


def test_a_place_that_cannot_be_written_is_told_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="cannot be written") as caught:
        Recorder(tmp_path / "no" / "run.jsonl", LAUNCH)
    assert "--record" in (caught.value.hint or "")


def test_an_older_recording_gives_way_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("older")
    path.chmod(0o644)
    Recorder(path, LAUNCH).ended(0)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read(path).argv == LAUNCH.argv


def test_a_run_that_was_killed_leaves_a_recording_that_can_be_played(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path, LAUNCH)
    recorder.wrote("stdout", b"first")
    recorder.wrote("stdout", b"second")
    recorder.ended(0)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"second") + 3])
    _, found = played(path)
    assert [type(each) for each in found] == [RecordedBytes, Ended]
    assert found[-1] == Ended(found[0].at, None)


@pytest.mark.parametrize(
    "content,problem",
    [
        (b"", "not a recording that can be replayed"),
        (b"plain text\n", "not a recording that can be replayed"),
        (b'{"a": 1}\n', "its first line is not that of a recording"),
        (b'{"format": "mem-codecli-recording", "version": 2}\n', "version 2, and this program reads 1"),
        (b'{"format": "mem-codecli-recording", "version": 1}\n', "its first line: 'argv'"),
    ],
)
def test_what_is_no_recording_is_told_apart(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument) as caught:
        read(path)
    assert problem in caught.value.message


def test_a_broken_line_is_named_and_a_missing_file_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Recorder(path, LAUNCH).ended(0)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], '{"at": 0, "stream": "stdout"}', lines[1]]) + "\n")
    with pytest.raises(InvalidArgument, match="line 2"):
        list(read(path).play())
    with pytest.raises(NotFound):
        read(tmp_path / "none")
