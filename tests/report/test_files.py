"""Files are there in full or not at all."""

import os
from pathlib import Path
from threading import Thread

import pytest

from sim.errors import InputError
from sim.report.document import to_json
from sim.report.files import check_file, check_folder, write_files, write_whole
from sim.report.table import Table, columns, to_markdown


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content in (b"first", b"second"):
        assert write_whole(path, content) == path
    assert path.read_bytes() == b"second"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="Input/output error"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_what_a_killed_writer_of_the_file_left_goes_with_the_next(tmp_path: Path) -> None:
    for name in (".a.txt.k3_9xq7z", ".other.txt.k3_9xq7z", ".a.txt"):
        (tmp_path / name).write_bytes(b"half")
    write_whole(tmp_path / "a.txt", b"whole")
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left == {"a.txt", ".other.txt.k3_9xq7z", ".a.txt"}


def test_writers_of_one_file_do_not_clear_each_other_away(tmp_path: Path) -> None:
    def write(who: int) -> None:
        for _ in range(50):
            write_whole(tmp_path / "a.txt", bytes([who]) * 1000)

    threads = [Thread(target=write, args=(who,)) for who in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    assert len(set((tmp_path / "a.txt").read_bytes())) == 1


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    write_whole(path, b"all of it")
    reader.join()
    assert found == [b"all of it"]
    assert path.is_fifo()


def test_a_new_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_whole(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="is a file, not a folder"):
        check_folder(tmp_path / "file" / "below")
    with pytest.raises(InputError, match="cannot be written"):
        write_files(tmp_path / "file" / "below", {"a": b""})
    with pytest.raises(InputError, match="is a file, not a folder"):
        check_file(tmp_path / "file" / "a.txt")
    with pytest.raises(InputError, match="this is a folder, not a file"):
        check_file(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission"):
        check_folder(tmp_path / "below")


def test_a_number_that_is_none_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        to_json({"value": float("nan")})


def test_markdown_keeps_what_would_be_read_as_its_own() -> None:
    table = Table("T", columns("<what", "cost"), (("a|b_c", "$5"),))
    assert to_markdown(table).splitlines()[-1] == "| a\\|b\\_c | \\$5 |"


def test_two_runs_into_one_folder_leave_the_files_of_one_of_them(tmp_path: Path) -> None:
    def write(who: int) -> None:
        for _ in range(20):
            write_files(tmp_path, {f"{name}.txt": bytes([who]) for name in range(6)})

    threads = [Thread(target=write, args=(who,)) for who in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


NAMES = ("main", "a", "b", "below/c")


def test_a_killed_writer_never_leaves_the_main_file_beside_files_of_two_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace
    for moves in range(len(NAMES) + 1):
        folder = tmp_path / str(moves)
        write_files(folder, dict.fromkeys(NAMES, b"old"), main="main")
        left = moves

        def dies(self: Path, target: Path) -> Path:
            nonlocal left
            if not left:
                raise KeyboardInterrupt
            left -= 1
            return real(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", dies)
            patched.setattr("sim.report.files.shutil.rmtree", lambda *_, **__: None)
            if moves < len(NAMES):
                with pytest.raises(KeyboardInterrupt):
                    write_files(folder, dict.fromkeys(NAMES, b"new"), main="main")
            else:
                write_files(folder, dict.fromkeys(NAMES, b"new"), main="main")
        assert (folder / "main").exists() == (moves == len(NAMES))
        # what the dead writer left goes with the next one
        assert [entry for entry in folder.iterdir() if entry.name.startswith(".")]
        write_files(folder, dict.fromkeys(NAMES, b"newest"), main="main")
        assert {entry.name for entry in folder.iterdir()} == {"main", "a", "b", "below"}
        assert {(folder / name).read_bytes() for name in NAMES} == {b"newest"}


def test_what_cannot_be_written_aside_leaves_the_earlier_run_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"main": b"old", "a": b"old"}, main="main")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        write_files(tmp_path, {"main": b"new", "a": b"new"}, main="main")
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {
        "main": b"old",
        "a": b"old",
    }


def test_hidden_files_of_an_older_version_are_swept_and_those_of_others_are_not(
    tmp_path: Path,
) -> None:
    for name in (".a.k2_x9abc", ".a.txt", ".mine"):
        (tmp_path / name).write_bytes(b"")
    write_files(tmp_path, {"a": b""})
    assert {entry.name for entry in tmp_path.iterdir()} == {"a", ".a.txt", ".mine"}
