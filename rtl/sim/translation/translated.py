"""The Verilog of a component, and what a driver must know of its ports: made once, and kept in the cache.

PyMTL3 takes longer to elaborate and translate a machine than the native stage to run it. An entry is found by the
recipe of the component (recipe.py), and by the sources of all that the recipe leads to and of what translates it.
"""

import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymtl3 import Component

from .. import cache, interrupt, sources
from ..base import claim
from .recipe import Recipe, recipe, recipe_of
from .translate import Readable, translate

MODULE = __name__.partition(".")[2]


def translated(component: Component, read: Callable[[Component], Any]) -> tuple[str, Any]:
    """The text of a component that is to be simulated, and what `read` finds out when it is elaborated."""
    claim(component)
    name = entry_name(component, read)
    if name is None:
        return _made(component, read)

    def make(directory: Path) -> Path:
        product = directory / "product"
        product.write_bytes(pickle.dumps(_made(component, read)))
        return product

    # what follows a pickle, here the digest, is not read
    return pickle.loads(cache.cached(name, make).read_bytes())


def entry_name(component: Component, read: Callable[[Component], Any]) -> str | None:
    """The name in the cache; None for what is not from this package's files."""
    made_of, translator = recipe(component, read), _translator()
    if made_of is None or translator is None:
        return None
    digest = sources.digest(MODULE, *made_of.modules)
    return f"verilog-{cache.key(made_of.digest, translator.digest, digest)}"


@functools.cache
def _translator() -> Recipe | None:
    """As this process has it, whatever has happened to its sources since."""
    return recipe_of(Readable)


@interrupt.kept()
def _made(component: Component, read: Callable[[Component], Any]) -> tuple[str, Any]:
    if not component._dsl.constructed:
        component.elaborate()
    found = read(component)
    return translate(component), found
