"""Heat maps and line charts of the analyses, written as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.extras import needs
from discsum.files import replacing

LONGEST = 48
MOST_ROWS = 150
_SUFFIXES = (".png", ".svg")
# Horizontal values of a chart that are all marked on its axis.
FEW = 8
# Markers of lines; charts with more lines use shades.
MARKS = "os^Dvp*Xhd"


def _figure(width: float, height: float) -> tuple[Any, Any]:
    with needs("matplotlib"):
        from matplotlib.figure import Figure
    # Not pyplot: it needs a display and keeps every figure in memory.
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> list[Path]:
    """Write the figure in every format, next to its JSON; return the files."""
    written = []
    for suffix in _SUFFIXES:
        with replacing(path.with_suffix(suffix)) as partial:
            figure.savefig(partial, format=suffix[1:], dpi=150)
        written.append(path.with_suffix(suffix))
    return written


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def heatmap(
    values: NDArray[np.floating[Any]],
    rows: Sequence[str],
    columns: Sequence[str],
    labels: tuple[str, str],
    title: str,
    path: Path,
) -> list[Path]:
    """Draw `(rows, columns)` values, dark for large, with named rows, numbered from 1, and columns; return the files.

    `labels` are those of the horizontal and the vertical axis.
    Of more than `MOST_ROWS` rows, only those with the largest sums are drawn, in order, and the title says so.
    """
    kept = np.arange(len(rows))
    if len(rows) > MOST_ROWS:
        kept = np.sort(np.argsort(-values.sum(axis=1), kind="stable")[:MOST_ROWS])
        title = f"{title}; the {MOST_ROWS} of {len(rows)} rows with the largest sums"
    figure, axes = _figure(4.2 + 0.2 * len(columns), 1.6 + 0.2 * len(kept))
    image = axes.imshow(values[kept], cmap="Blues", aspect="auto", vmin=0.0, interpolation="nearest")
    axes.set_yticks(
        range(len(kept)), [f"{place + 1}  {_shortened(rows[place])}" for place in kept.tolist()], fontsize=7
    )
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7)
    figure.suptitle(title, fontsize=9, wrap=True)
    axes.set_xlabel(labels[0], fontsize=8)
    axes.set_ylabel(labels[1], fontsize=8)
    # At most as tall as 24 rows.
    figure.colorbar(image, ax=axes, shrink=24 / max(24, len(kept)), label="attention")
    return _save(figure, path)


def curves(
    lines: Mapping[str, Sequence[float] | NDArray[np.float64]],
    across: Sequence[float],
    labels: tuple[str, str],
    title: str,
    path: Path,
    bottom: float | None = 0.0,
) -> list[Path]:
    """Draw lines by name over shared horizontal values, with a legend; return the files.

    Lines differ in colour and marker, or in shade if there are many. The vertical axis starts at `bottom`, or fits the
    lines. The files are named after `path`, the JSON file of the numbers.
    """
    figure, axes = _figure(6.4, 4.2)
    few = len(lines) <= len(MARKS)
    for place, (name, line) in enumerate(lines.items()):
        shade = 0.9 - 0.65 * place / len(lines)
        colour = f"C{place}" if few else (0.1, 0.3 * shade + 0.2, shade)
        mark = MARKS[place] if few else "o"
        axes.plot(across, line, marker=mark, markersize=4, linewidth=1.2, color=colour, label=name)
    if len(across) <= FEW:
        axes.set_xticks(across)
    elif all(float(one).is_integer() for one in across):
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.grid(alpha=0.3)
    axes.set_ylim(bottom=bottom)
    figure.suptitle(title, fontsize=9, wrap=True)
    axes.legend(fontsize=8)
    return _save(figure, path)
