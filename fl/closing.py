"""Objects that a `with` statement closes at its end."""

from typing import Any, TypeVar

_C = TypeVar("_C", bound="Closing")


class Closing:
    """An object that is closed at the end of its `with` block, and with it the model that it has."""

    _model: Any = None

    def close(self) -> None:
        """Free the model, and finish its waveform file."""
        if self._model is not None:
            self._model.close()

    def __enter__(self: _C) -> _C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
