"""The text of the EDUs of a summary: as they stand in the document, or as sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from discsum.clause_starts import AND, CONNECTIVE, VERB, without_that
from discsum.dependency import edu_heads, in_sentence_heads, node_heads, same_unit_groups
from discsum.document import Document
from discsum.layout_patterns import QUOTE
from discsum.tidying import Gap, before_gap, completed, tidied
from discsum.tree import Node, is_attribution
from discsum.writing import BLANK_LINE, single_line

if TYPE_CHECKING:
    from discsum.summary import Selected

# Characters around a run in which a quotation may begin or end.
_REACH = 2000
# Several spaces in a line, which tidy summaries reduce to one.
_SPACES = re.compile(r"(?<=\S)[^\S\n]{2,}(?=\S)")


class EduText:
    """The text of the selected EDUs of a document, made of runs of EDUs that belong together."""

    def __init__(self, document: Document, selected: Sequence[Selected], labels: frozenset[int], *, tidy: bool) -> None:
        """Set document, selected EDUs in order, EDUs that are labels of turns, and whether runs become sentences."""
        self._document, self._selected, self._labels, self._tidy = document, selected, labels, tidy
        self._sentences = document.edu_to_sentence
        self._chosen = frozenset(unit.index for unit in selected)

    def __str__(self) -> str:
        """Return the text; see `Summary.text`."""
        return " ".join(self._words(run) for run in self._runs())

    def _runs(self) -> list[list[Selected]]:
        """Return the longest runs of selected EDUs that follow each other.

        With `tidy`, a run stays within one sentence, unless the EDU before is a turn's label or ends with a colon. It
        has all parts of a clause that other EDUs of the sentence interrupt, with the selected EDUs between them, and
        all later parts of the sentence that continue it.
        """
        clauses = self._clauses
        runs: list[list[Selected]] = []
        # The run of each clause in each sentence.
        places: dict[tuple[int, int], int] = {}
        for unit in self._selected:
            # The run that the unit continues: the last one, or the one in which its clause begins in the same sentence.
            first, last = len(runs), runs[-1][-1] if runs else None
            if last is not None:
                continued = self._continued_clause(unit)
                first -= self._follows(last, unit) or (continued is not None and places[continued] == first - 1)
            if self._tidy:
                first = min(first, places.get(clauses[unit.index], first))
            # In place: copying a run for each of its units would take quadratic time.
            if first == len(runs):
                runs.append([])
            joined = [*chain.from_iterable(runs[first + 1 :]), unit]
            runs[first] += joined
            places |= {clauses[one.index]: first for one in joined}
            del runs[first + 1 :]
        return runs

    def _follows(self, last: Selected, unit: Selected) -> bool:
        """Return whether a selected EDU continues the run that ends right before it."""
        adjacent = last.index == unit.index - 1
        if not self._tidy:
            return adjacent
        same = self._sentences[last.index] == self._sentences[unit.index]
        return adjacent and bool(same or last.index in self._labels or last.text.rstrip().endswith(":"))

    def _continued_clause(self, unit: Selected) -> tuple[int, int] | None:
        """Return the clause of the sentence that an EDU continues although EDUs between them may be left out.

        The EDU begins with a conjunction, a verb or the like, and what it belongs to is before it: "The mill stopped, |
        as she said, | because the river froze". None if there is none, or it is not selected.
        """
        if not self._tidy:
            return None
        found = self._coordinands.get(unit.index, -1)
        if self._is_attributed(unit):
            found = min(self._attributions[unit.index])
        elif not AND.match(unit.text):
            head = self._heads[unit.index]
            starts = CONNECTIVE.match(unit.text) or VERB.match(unit.text)
            found = -1 if not starts or head > unit.index else max(head, found)
        if found not in self._chosen or self._sentences[found] != self._sentences[unit.index]:
            return None
        return self._clauses[found]

    def _words(self, run: Sequence[Selected]) -> str:
        """Return the text of a run, without line breaks: EDUs that follow each other keep the text between them.

        With `tidy`, it is a sentence, unless it is only a label. A clause that is reported begins without "that" if the
        attribution was not selected.
        """
        words, clauses = run[0].text, self._clauses
        # Where each clause begins in the words.
        begins = {clauses[run[0].index]: 0}
        for last, unit in pairwise(run):
            between, clause = self._document.text[last.end : unit.start], clauses[unit.index]
            if unit.index > last.index + 1:
                # Only the end of the words, because all of them would take quadratic time.
                cut = max(0, len(words) - _REACH)
                gap = Gap(last.text, between, unit.text, continued=clauses[last.index] == clause)
                own = words[max(cut, begins[clause]) :] if clause in begins else ""
                words, between = words[:cut] + before_gap(words[cut:], own, gap), " "
            words += between
            begins.setdefault(clause, len(words))
            words += unit.text
        words = single_line_of(words)
        if not self._tidy or {unit.index for unit in run} <= self._labels:
            return words
        if run[0].index in self._attributions and not self._is_attributed(run[0]):
            words = without_that(words)
        return tidied(self._completed(_SPACES.sub(" ", words), run[0], run[-1]))

    def _completed(self, words: str, first: Selected, last: Selected) -> str:
        """Return the words of a run from `first` to `last`, with both marks of quotations that the selection cuts."""
        text, units = self._document.text, self._document.units("edu")
        before, after = first.index - 1, last.index + 1
        if before in self._chosen and after in self._chosen:
            return words
        while before in self._chosen and first.start - units[before].start < _REACH:
            before -= 1
        while after in self._chosen and units[after].end - last.end < _REACH:
            after += 1
        begin, end = units[before + 1].start, units[after - 1].end
        return completed(
            words,
            BLANK_LINE.split(text[max(0, begin - _REACH) : begin])[-1],
            BLANK_LINE.split(text[end : end + _REACH], 1)[0],
            text[begin : first.start],
            text[last.end : end],
        )

    def _is_attributed(self, unit: Selected) -> bool:
        """Return whether an EDU begins what an attribution before it reports, all of whose clause is selected."""
        return unit.index in self._attributions and self._attributions[unit.index] <= self._chosen

    @cached_property
    def _attributions(self) -> dict[int, set[int]]:
        """For each EDU that begins what an attribution before it reports: the EDUs of the attribution's clause."""
        clauses, members = self._clauses, dict[tuple[int, int], list[int]]()
        for edu, clause in enumerate(clauses):
            members.setdefault(clause, []).append(edu)
        return {
            node.split + 1: {edu for edu in members[clauses[head]] if node.first <= edu <= node.split}
            for node, head in self._left_heads
            if node.nuclearity == "SN" and is_attribution(node.relation)
        }

    @cached_property
    def _clauses(self) -> list[tuple[int, int]]:
        """The clause of each EDU: its sentence, and with `tidy` a number that the parts of a divided clause share."""
        tree = self._document.tree
        groups = same_unit_groups(tree) if self._tidy and tree is not None else np.arange(len(self._sentences))
        return [*zip(self._sentences.tolist(), groups.tolist(), strict=True)]

    @cached_property
    def _heads(self) -> list[int]:
        """The EDU of the same sentence that each EDU depends on; -1 if there is none."""
        tree = self._document.tree
        if tree is None:
            return [-1] * len(self._sentences)
        return [*map(int, in_sentence_heads(edu_heads(tree), self._sentences))]

    @cached_property
    def _coordinands(self) -> dict[int, int]:
        """For each EDU that begins a nucleus after another one: the head EDU of that one, if in the same sentence."""
        return {
            node.split + 1: head
            for node, head in self._left_heads
            if node.nuclearity == "NN" and self._sentences[head] == self._sentences[node.split + 1]
        }

    @cached_property
    def _left_heads(self) -> list[tuple[Node, int]]:
        """The nodes of the tree, each with the head EDU of its left child; none without a tree."""
        tree = self._document.tree
        if tree is None:
            return []
        heads = [*range(tree.edus), *node_heads(tree).tolist()]
        return [(node, heads[tree.children(tree.edus + index)[0]]) for index, node in enumerate(tree.nodes)]


def single_line_of(text: str) -> str:
    """Return a text as one line; if all its further lines are quoted, without their `>`."""
    first, *others = text.splitlines() or [""]
    quotes = [QUOTE.match(line.lstrip()) for line in others]
    if quotes and all(quotes):
        others = [line.lstrip()[quote.end() :] for line, quote in zip(others, quotes, strict=True) if quote]
        text = "\n".join([first, *others])
    return single_line(text)
