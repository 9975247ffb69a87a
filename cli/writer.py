"""Where results go: standard output, one file, or a folder with one file per document."""

from __future__ import annotations

import errno
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import typer

from discsum.cli.json_lines import DIGEST, JsonLines, check_options, text_digest
from discsum.cli.output_paths import (
    check_ending,
    check_no_input,
    check_outside,
    check_writable,
    local_path,
)
from discsum.cli.progress import say
from discsum.data.inputs import Item, input_files
from discsum.data.markup import ENDINGS
from discsum.errors import InputError, OutputError, message_of, number_of
from discsum.files import clear_unfinished, folded, is_device, replacing, sha256_of_text
from discsum.format_registry import suffixes

# Errors after which no other file can be written either.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
# Bytes of a file's name that come from an id; file systems allow 255 with suffix, and more while it is written.
LONGEST_NAME = 200
# Names of devices of Windows, which no file can have.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d) *(\.|$)", re.IGNORECASE)
# Control characters except tab and line feed.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Writer:
    """Writes results to standard output, to one file, or to a folder with one file per document.

    Attributes:
        folder: The folder, if there is one.
        file: The one file, if there is one.
        on_terminal: Whether results go to standard output and that is a terminal.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        output: str | None,
        suffix: str,
        *,
        one_file: bool,
        lines: bool = False,
        resume: bool = False,
        option: str = "--output",
        options: Callable[[], str] = str,
        reserved: str = "",
    ) -> None:
        """Write to `output`.

        Args:
            inputs: Arguments of the command line that name inputs; no result may overwrite an input.
            output: None or `-` for standard output; a path with a suffix is a file if `one_file`, unless it is a folder
                or ends with a slash; other paths are folders.
            suffix: Suffix of the files in a folder.
            one_file: Whether one file may hold all results.
            lines: Whether results are JSON objects, one per line.
            resume: Whether to keep the results of an earlier run: the files of a folder, or the lines of a file.
            option: The option that names the output, for errors.
            options: Returns what `result_options` does; with `resume`, the earlier results must have the same options.
                Called only where results can be resumed, because it may read the weights of a model.
            reserved: Name, without suffix, of a file in the folder that belongs to no document.

        Raises:
            BadParameter: `resume` without a folder or lines to keep, one file for several documents that need a
                folder, or a file with the ending of another format.
            InputError: An output that cannot be written or is an input, or texts or pages in a folder of inputs.
        """
        self.suffix, self.resume, self._option, self._reserved = suffix, resume, option, reserved
        self._options = ""
        self.lines = lines
        self.folder: Path | None = None
        self.file: Path | None = None
        self._names: dict[str, str] = {}
        self._written: set[str] = set()
        # Names by their case-folded form.
        self._alike: dict[str, str] = {}
        # File with the options of an unfinished run into a folder, and the time it began; older files are of other
        # runs.
        self._record: Path | None = None
        self._begun: int | None = None
        self._seen: set[str] = set()
        # Hashes of the ids of lines, which take less memory than the ids; how many lines repeat one, and one of these.
        self._ids: set[int] = set()
        self._repeated, self._repeats = "", 0
        self._stack = ExitStack()
        self._stream: IO[bytes] | None = None
        self._lines: JsonLines | None = None
        self._inputs: Mapping[str, Sequence[Path]] = {}
        self._device, self.on_terminal = "", False
        if output is not None and output != "-" and is_device(Path(output)):
            # Opened directly: a device or a pipe cannot be replaced by renaming.
            self._device = output
            device = Path(output).open("wb", buffering=0)  # noqa: SIM115 (closed with the writer)
            self._stream = self._stack.enter_context(device)
        elif output is not None and output != "-":
            local_path(output)
            path, is_folder = Path(output), output.endswith(("/", os.sep))
            if not one_file and path.suffix == suffix and not path.is_dir() and not is_folder:
                raise typer.BadParameter(
                    f"several documents need a folder: {path.with_suffix('')}, or {path}/", param_hint=option
                )
            if one_file and path.suffix and not path.is_dir() and not is_folder:
                self.file = path
                check_ending(path, suffix, option)
                if lines and path.suffix.lower() == ".json":
                    raise typer.BadParameter(
                        f"expected a name that ends in .jsonl for JSON lines, got {path.name}", param_hint=option
                    )
                self._options = options() if lines else ""
                self._lines = JsonLines(path, resume=resume, options=self._options) if lines else None
            else:
                self.folder, self._options = path, options()
                self._record = path / f"{suffix}.options" if self._options else None
            check_writable(path, folder=self.folder is not None, option=option)
            if self.folder is not None and suffix in {".txt", *ENDINGS}:
                check_outside(path, inputs)
            elif self.folder is not None and suffix in suffixes():
                # Trees may be written beside files of another format, to convert them.
                check_outside(path, inputs, suffix)
            self._inputs = input_files(inputs)
            clear_unfinished(path if self.folder is not None else path.parent)
            if self.file is not None or reserved:
                check_no_input(self.file or path / (reserved + suffix), self._inputs, option)
        else:
            self._stream = sys.stdout.buffer
            # Asked before a bar is shown: rich replaces standard output then.
            self.on_terminal = sys.stdout.isatty()
        if resume and self.folder is None and self._lines is None:
            raise typer.BadParameter("expected -o FOLDER, or JSON lines in -o FILE", param_hint="--resume")

    def __enter__(self) -> Writer:
        """Return the writer; a single output file appears when the block ends without an error."""
        if self._lines is not None:
            self._stack.enter_context(self._lines)
        if self.resume and self._record is not None:
            self._go_on(self._record)
        return self

    def __exit__(self, *error: Any) -> None:
        """Rename the single output file into place, if anything was written.

        If there was no error, delete the file that records a folder's options.
        """
        self._stack.__exit__(*error)
        if self._repeats:
            say(
                f"discsum: found {number_of(self._repeats, 'document')} with the same id as another one, such as "
                f"{self._repeated}; a file's id is its name without folder and suffix"
            )
        if self._record is not None and error[0] is None:
            self._record.unlink(missing_ok=True)

    def _go_on(self, record: Path) -> None:
        """Check the options of the unfinished run in a folder, or say that they are unknown."""
        if record.is_file():
            check_options(str(record), record.read_text(encoding="utf-8").rstrip("\n"), self._options)
            self._begun = record.stat().st_mtime_ns
        elif any(record.parent.glob(f"*{self.suffix}")):
            say(
                f"discsum: {record.parent}: expected the folder of an interrupted run, got one without {record.name}; "
                f"its {self.suffix} files are kept, whatever options they were made with"
            )
            self._record = None

    def with_resume_fields(self, data: dict[str, Any], text: str) -> dict[str, Any]:
        """Return the JSON object of a text; in a file of lines, add the fields that a later `resume` compares."""
        if self._lines is None or not self._options:
            return data
        return data | {"options": self._options, DIGEST: text_digest(text)}

    def has(self, item: Item) -> bool:
        """Return whether, with `resume`, an earlier run wrote the result of a document.

        Lines are matched by id. Documents with the same id are matched in order, with a message. A file whose document
        has changed since counts as not written.

        Raises:
            InputError: The text of a line has changed.
        """
        if not self.resume:
            return False
        if self.folder is not None:
            name = self._stem(item)
            own = self._names.setdefault(name, item.source) == item.source
            path = self.folder / (name + self.suffix)
            source = Path(item.source)
            changed = source.stat().st_mtime_ns if source.is_file() else 0
            return own and path.is_file() and path.stat().st_mtime_ns >= max(self._begun or 0, changed)
        assert self._lines is not None, "without a folder, resume needs lines"
        if item.id in self._seen:
            say(f"discsum: {item.source}: another document has the id {item.id!r} too")
        if not self._lines.has(item.id, item.text, item.source):
            return False
        self._seen.add(item.id)
        return True

    def write(self, item: Item, text: str) -> str:
        """Write one result; return its file's name in the folder, or "" without a folder.

        A file in a folder is renamed into place when it is complete.
        """
        if self.on_terminal:
            # Control characters in a text must not reach the terminal.
            text = _CONTROL.sub("\ufffd", text)
        content = text.encode("utf-8", "replace")
        if self.folder is not None:
            name = self._name(item)
            if name in self._written:
                say(f"discsum: {item.source}: given twice, written once")
            self._written.add(name)
            if self._record is not None and self._begun is None:
                with replacing(self._record) as path:
                    path.write_text(self._options + "\n", encoding="utf-8")
                self._begun = self._record.stat().st_mtime_ns
            self._write_file(self.folder / name, content)
            return name
        if self.lines and item.id:
            if (known := hash(item.id)) in self._ids:
                self._repeated, self._repeats = item.id, self._repeats + 1
            self._ids.add(known)
        self._append(content)
        return ""

    def write_nothing(self) -> None:
        """Write an empty file if results go to one file, so that no file of an earlier run stays."""
        if self.file is not None:
            self._append(b"")

    def _append(self, content: bytes) -> None:
        """Write to the file or to standard output.

        Raises:
            OutputError: It cannot be written, and neither can what follows.
        """
        if self._lines is not None:
            self._lines.write(content)
            return
        if self._stream is None:
            assert self.file is not None, "without a file the stream is standard output"
            self._stream = self._stack.enter_context(self._stack.enter_context(replacing(self.file)).open("wb"))
        try:
            self._stream.write(content)
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            place = str(self.file or self._device or "standard output")
            raise OutputError(f"{place}: {error.strerror}") from error

    def write_reserved(self, text: str) -> None:
        """Write the file with the reserved name, if there is a folder."""
        if self.folder is not None:
            self._write_file(self.folder / (self._reserved + self.suffix), text.encode("utf-8", "replace"))

    def _write_file(self, target: Path, content: bytes) -> None:
        check_no_input(target, self._inputs, self._option)
        try:
            with replacing(target) as path:
                path.write_bytes(content)
        except OSError as error:
            if error.errno in FULL:
                raise OutputError(message_of(error)) from error
            raise

    def _stem(self, item: Item) -> str:
        """Return the name of a document's file in the folder, without suffix."""
        name = re.sub(r"[^\w\-. ]", "_", unicodedata.normalize("NFC", item.id)).strip(". ") or "document"
        if os.name == "nt" and _DEVICE.match(name):
            name = f"_{name}"
        if len(name.encode()) > LONGEST_NAME:
            name = f"{name.encode()[:LONGEST_NAME].decode(errors='ignore')}-{sha256_of_text(item.id)[:8]}"
        return f"{self._reserved}-1" if name.lower() == self._reserved else name

    def _name(self, item: Item) -> str:
        name = self._stem(item)
        other = self._names.setdefault(name, item.source)
        alike = self._alike.setdefault(folded(name), name)
        if other == item.source and alike != name and self._is_one_file(alike, name):
            # On some file systems, names that differ only in case are the same file.
            other = self._names[alike]
        if other != item.source:
            own, there = Path(item.source), Path(other)
            remedy = "give one of them another name or id, or run the command for each folder with its own output"
            # Not if they are two rows of a table.
            if own.is_file() and own.with_suffix("") == there.with_suffix(""):
                remedy = f"name the files of one kind only, such as {own.parent / '*'}{there.suffix}"
            raise InputError(
                f"{item.source}: expected a unique name, {name}{self.suffix} is the file of {other}; {remedy}"
            )
        return name + self.suffix

    def _is_one_file(self, *names: str) -> bool:
        assert self.folder is not None, "only files of a folder are named"
        first, second = (self.folder / (name + self.suffix) for name in names)
        return first.exists() and second.exists() and first.samefile(second)
