"""Files are written completely or not at all, and what is not a plain file stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from fiveup_env.files import (
    atomic_file,
    clear_drafts,
    file_path,
    is_writable,
    new_folder,
    write_atomic,
)
from tests.support import on_posix


@on_posix
def test_new_files_follow_the_umask_and_replaced_ones_keep_their_permissions(
    tmp_path: Path,
) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new", b"1")
    finally:
        os.umask(before)
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(0o604)
    write_atomic(file, b"new")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new", file)]
    assert (modes, file.read_bytes()) == ([0o640, 0o604], b"new")


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "target"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        write_atomic(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["target"]


@on_posix
def test_pipes_and_devices_are_written_to_and_folders_are_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with atomic_file(pipe) as file:
        file.write("hello")
    reader.join()
    assert read == [b"hello"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_atomic(os.devnull, b"1")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)  # noqa: PTH116
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path, b"1")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with pytest.raises(TypeError), atomic_file(file) as draft:
        draft.write(3)  # type: ignore[arg-type]
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_appears_once_it_is_complete_and_replaces_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with new_folder(folder) as draft:
        (draft / "file").write_text("1")
        assert not folder.exists()
    assert (folder / "file").read_text() == "1"
    with pytest.raises(OSError, match="folder"), new_folder(folder) as draft:
        (draft / "file").write_text("2")
    assert (folder / "file").read_text() == "1"
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]


@on_posix
def test_the_draft_of_a_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with atomic_file(file) as one:
        one.write("one")
        write_atomic(file, b"other")
        clear_drafts(tmp_path)
    assert file.read_text() == "one"
    assert list(tmp_path.iterdir()) == [file]


def test_errors_name_the_file_and_not_its_draft(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for file in (tmp_path / "nowhere" / "file", tmp_path / "folder"):
        with pytest.raises(OSError, match=r"file|folder") as error, atomic_file(file):
            pass
        assert error.value.filename == str(file)
    for name in ("a\0b", "\ud800"):
        with pytest.raises(OSError, match="not a file name"):
            file_path(name)


def test_lines_end_alike_on_every_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "linesep", "\r\n")
    with atomic_file(tmp_path / "file") as file:
        file.write("one\ntwo\n")
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\n"


def test_a_folder_is_writable_if_a_file_can_be_made_in_it(tmp_path: Path) -> None:
    assert is_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for place in ("file", "nowhere"):
        assert not is_writable(tmp_path / place)
