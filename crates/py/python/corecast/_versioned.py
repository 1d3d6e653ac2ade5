# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pickles that say by which version they were made."""

from __future__ import annotations

from typing import Any

from . import _core
from .errors import VersionError


def restore(kind: type, version: str, state: dict[str, Any]) -> Any:
    """An object as it was pickled, by this version only: what its fields mean may have changed."""
    if version != _core.__version__:
        raise VersionError(
            f"this {kind.__name__} was pickled by corecast {version}, this is {_core.__version__}",
            [f"load it with corecast {version}, or make it again"],
            {"pickled_by": version, "version": _core.__version__},
        )
    made: Any = object.__new__(kind)
    made.__dict__.update(state)
    return made


class Versioned:
    """An object whose pickles are read by the same version only."""

    def __reduce__(self) -> tuple[Any, tuple[type, str, dict[str, Any]]]:
        return (restore, (type(self), _core.__version__, self._state()))

    def __copy__(self) -> Any:
        """Another object of the same values, which nobody changes: unlike a pickle it keeps all."""
        made: Any = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__copy__()

    def _state(self) -> dict[str, Any]:
        """What a pickle keeps."""
        return dict(self.__dict__)
