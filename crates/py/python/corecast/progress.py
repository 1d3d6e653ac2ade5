# SPDX-License-Identifier: MIT OR Apache-2.0
"""Progress bars, by tqdm where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._values import flag

#: What the Rust side calls: parts done, messages delivered, messages of all runs begun.
Told = Callable[[int, int, int], None]


@contextmanager
def bar(wanted: bool | None, what: str, parts: int) -> Iterator[Told | None]:
    """A bar of `parts` parts; of one part, of the messages of its runs.

    `wanted` is ``True``, ``False``, or ``None`` for where somebody is likely to look at it: on
    terminals and in notebooks, after half a second.

    Raises:
        InputTypeError: for anything else.
    """
    if wanted is not None:
        flag("progress", wanted)
    made = None if wanted is False else _tqdm(wanted, what, parts)
    if made is None:
        yield None
        return

    def told(done: int, delivered: int, messages: int) -> None:
        if parts > 1:
            made.update(done - made.n)
        elif messages:
            made.total = messages
            made.unit = " messages"
            made.update(delivered - made.n)

    try:
        yield told
    finally:
        made.close()


#: How much of a part is done after so many messages; its whole length if none are given.
Done = Callable[..., int]


@contextmanager
def bar_of_lengths(
    wanted: bool | None, what: str, parts: Sequence[Done]
) -> Iterator[list[Told | None]]:
    """As :func:`bar`, of parts of different lengths, each with what it has to tell: within a part the
    bar follows the messages.
    """
    lengths = [done() for done in parts]
    form = "{l_bar}{bar}| {elapsed}<{remaining}"  # lengths have no unit
    # What is left follows from all that has passed, not from the last seconds.
    how = {"bar_format": form, "smoothing": 0}
    made = None if wanted is False else _tqdm(wanted, what, sum(lengths), **how)
    if made is None:
        yield [None] * len(parts)
        return

    def teller(before: int, part: Done) -> Told:
        def told(is_done: int, delivered: int, _: int) -> None:
            made.update(before + (part() if is_done else part(delivered)) - made.n)

        return told

    try:
        yield [teller(sum(lengths[:place]), part) for place, part in enumerate(parts)]
    finally:
        made.close()


def _tqdm(wanted: bool | None, what: str, parts: int, **how: Any) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about widgets that are not installed
        return tqdm(
            total=parts,
            desc=what,
            leave=False,
            delay=0 if wanted else 0.5,
            disable=False if wanted else None,
            **how,
        )
