"""Function cores: third-party accelerators of any kind, whose manifest names their fields and a Python
function.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from ....fl.accelerator import Shape, in_words
from ....fl.errors import BadInput, shown, unknown
from ..own import OwnDesign, load
from .core import Core
from .manifest import Manifest

MOST_DRAWN = 1000  # attempts to find a random request that meets the limits


class FunctionCore(Core):
    """A core at one width, compared with its function; each manifest has its own subclass."""

    manifest: ClassVar[Manifest]
    computed: ClassVar[Callable[..., Any]]  # its function in Python

    def prepare(self):
        self.manifest.check_width(self.nbits)

    @functools.cached_property
    def shape(self):
        """The fields of the manifest."""
        of = self.manifest.of
        return Shape(self._fields("request", of.request), self._fields("response", of.response))

    @functools.cached_property
    def _options(self) -> dict[str, Any]:
        """Arguments of the function in addition to the fields; BadInput if it does not accept a request."""
        signature = inspect.signature(self.computed)
        options = {name: self.known[name] for name in signature.parameters if name in self.known}
        try:
            signature.bind(*self.manifest.fields, **options)
        except TypeError as error:
            raise self._wrong(
                f"does not accept {', '.join(self.manifest.fields)}: {error}; give it one parameter a field"
            ) from None
        return options

    def _wrong(self, message: str) -> BadInput:
        return self.manifest.error(("function",), f"{self.manifest.of.function} {message}")

    def fl(self, *carried, **_):
        request = carried[: len(self.manifest.fields)]
        asked = ", ".join(map(shown, request))
        try:
            returned = self.computed(*request, **self._options)
        except BadInput:
            raise
        except Exception as error:  # anything that the user's code raises
            raise self._wrong(
                f"raises {type(error).__name__} for ({asked}): {error}; "
                "correct it, or exclude the request by limits.require"
            ) from error
        values = returned if isinstance(returned, tuple) else (returned,)
        if not all(isinstance(value, int) for value in values):
            raise self._wrong(
                f"returns {returned!r} for ({asked}): "
                "give a whole number, or a tuple of them for several fields"
            )
        return tuple(map(int, values))

    # ---- requests that the limits allow

    def require(self, *request, **_):
        super().require(*request)
        if reason := self.unmet(*request):
            raise BadInput(f"{in_words(self.shape.request, request)}: {reason}; give another request")

    def rows(self):
        return [row for row in super().rows() if not self.unmet(*row.request)]

    def drawn(self, generator):
        for _ in range(MOST_DRAWN):
            request = super().drawn(generator)
            if not self.unmet(*request):
                return request
        raise self.manifest.error(
            ("limits", "require"),
            f"none of {MOST_DRAWN} random requests meets the limits; exclude less",
        )


def design_of(manifest: Manifest) -> OwnDesign:
    """The entry of a manifest with a function; BadInput if the function cannot be imported."""
    of = manifest.of
    file, _, name = of.function.rpartition(":")
    path = manifest.path.parent / file
    if not file.endswith(".py") or not path.is_file():
        raise manifest.error(
            ("function",),
            f'function "{of.function}": there is no file {path}; give FILE.py:NAME, relative to the manifest',
        )
    try:
        module, trace = load(path)
    except BadInput as error:
        raise manifest.error(("function",), f"{file} cannot be imported: {error}; correct it") from None
    function = getattr(module, name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise manifest.error(("function",), str(unknown(f"function of {file}", name, functions)))
    own = {name: getattr(manifest, name) for name in ("summary", "params", "usual_nbits")}
    own |= {"name": of.name, "manifest": manifest, "computed": staticmethod(function)}
    kind = type(of.name, (FunctionCore,), own)
    manifest.trace.others.append(trace)
    _ = manifest.verilog  # records its files
    return OwnDesign(of.name, kind, str(manifest.path), manifest.trace)
