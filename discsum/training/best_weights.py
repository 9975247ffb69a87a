"""The weights of a run's best validation so far, in the folder `best` of the run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from discsum.errors import InputError, WeightsError
from discsum.files import clear_unfinished, recover_folder, replace_folder, replacing, sha256
from discsum.persistence import BEST, CARD, CONFIG
from discsum.training.checkpoint import LAST

# Suffix of the folder of better weights until a checkpoint names their checksums.
STAGED = "staged"


class BestWeights:
    """The folder `best` of a run, and beside it the better weights that are not in a checkpoint yet.

    A run stages better weights, writes a checkpoint with their checksums, and then adopts them. So, whenever it is
    killed, the folder has the weights that the last checkpoint names, or `recover` restores them.

    Attributes:
        sums: SHA-256 of each file of the best weights, staged or adopted, without the card.
    """

    def __init__(self, run: Path, sums: dict[str, str]) -> None:
        """Prepare for the run in the folder `run`; `sums` are those of its checkpoint, if it has one."""
        self._run, self.folder, self.sums = run, run / BEST, sums
        self._staged = run / f".{BEST}.{STAGED}"
        self._pending = False

    def recover(self) -> None:
        """Finish or undo what a killed run began."""
        recover_folder(self.folder)
        clear_unfinished(self.folder)
        # Besides the weights it may have files of the earlier folder.
        if self.sums and self.sums.items() <= _sums(self._staged).items():
            replace_folder(self.folder, self._staged)
        shutil.rmtree(self._staged, ignore_errors=True)

    def stage(self, save: Callable[[Path], None], card: Callable[[], str]) -> None:
        """Write better weights with `save`, and their model card, beside the best ones; both or neither."""
        self._staged.mkdir(parents=True)
        self._pending = True
        try:
            save(self._staged)
            self.write_card(card())
        except BaseException:
            shutil.rmtree(self._staged, ignore_errors=True)
            raise
        self.sums = _sums(self._staged)

    def write_card(self, card: str) -> None:
        """Write the model card of the staged or else the best weights; it is rewritten after each validation."""
        folder = self._staged if self._pending else self.folder
        with replacing(folder / CARD) as path:
            path.write_text(card, encoding="utf-8")

    def adopt(self) -> None:
        """Replace the best weights with the staged ones, if there are any."""
        if self._pending:
            replace_folder(self.folder, self._staged)
            self._pending = False

    def check_there(self, step: int) -> None:
        """Raise `InputError` if a file of the best weights, those of the validation after `step` steps, is missing."""
        if missing := [name for name in (CONFIG, *self.sums) if not (self.folder / name).is_file()]:
            # The run would only write them again after a better validation.
            raise InputError(
                f"{self.folder / missing[0]}: expected the weights of step {step}, the best validation of the run in "
                f"{self._run}, found no such file; restore the folder, or delete {self._run / LAST} to train again"
            )

    def check(self, step: int) -> None:
        """Raise `WeightsError` if a file of the best weights has changed since it was written."""
        for name, expected in self.sums.items():
            path = self.folder / name
            found = sha256(path) if path.is_file() else "no such file"
            if found != expected:
                raise WeightsError(
                    f"{path}: expected sha256 {expected}, as step {step} wrote it, got {found}; the file is altered; "
                    f"restore it, or delete {self._run / LAST} to train again"
                )


def _sums(folder: Path) -> dict[str, str]:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: sha256(folder / name) for name in files if name != CARD}
