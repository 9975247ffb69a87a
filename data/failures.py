"""Documents that could not be read, and those that are too large."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A document that could not be read, and why."""

    source: str
    reason: str

    def __str__(self) -> str:
        """Return source and reason, naming the source once."""
        return self.reason if self.reason.startswith(f"{self.source}:") else f"{self.source}: {self.reason}"


# Remedy for a document that is too large.
RAISE = "split it, or raise max_document_bytes (--max-document-bytes)"


def is_larger(text: str, largest: int) -> bool:
    """Return whether a text has more than `largest` bytes in UTF-8."""
    # A character has one to four bytes, so most texts need not be encoded.
    return len(text) > largest or (
        len(text) * 4 > largest and len(text.encode("utf-8", errors="surrogatepass")) > largest
    )
