"""Cached translation of a component: its Verilog, digests, and the ports that a driver needs.

PyMTL3 takes longer to elaborate and translate a machine than the native backend to run it. An entry is found
by the recipe of the component (component_digest.py), and by the sources of all that the recipe leads to and
of the translator.
"""

import functools
import json
import pickle
from collections.abc import Callable
from typing import Any

from pymtl3 import Component

from ...verilog.translate import text
from .. import cache, interrupt, sources
from ..base import claim
from ..verilog_digests import Digests
from .component_digest import LIBRARY, Recipe, recipe, recipe_of
from .translate import translate, tree_of

MODULE = __name__.partition(".")[2]


@interrupt.kept()
def written(component: Component, top: str, **options: Any) -> str:
    """The text of a component for a file, with options of `translate`; the component is elaborated."""
    name = _entry("text", component, top, options)
    found = _stored(name, lambda: translate(component, top, unique=True, **options).encode())
    if not component._dsl.constructed:
        component.elaborate()
    return found.decode()


def digests(component: Component, top: str, write: Callable[[], str]) -> Digests:
    """The digests of the text that `write` makes of a component, whose top module is called `top`."""
    name = _entry("digests", component, top)
    return Digests(*json.loads(_stored(name, lambda: json.dumps(Digests.of(write())).encode())))


def origin(component: Component, top: str) -> str | None:
    """A digest of the arguments of a component and of the code that makes its text of them, without comments;
    None for components from outside this package's files.

    Equal origins make equal hardware; another origin may make the same.
    """
    made_of = recipe(component, top)
    if made_of is None:
        return None
    return cache.key(*LIBRARY, made_of.arguments, sources.code_digest(MODULE, *made_of.modules))


def translated(component: Component, read: Callable[[Component], Any]) -> tuple[str, Any]:
    """The text of a component that is to be simulated, and what `read` finds out when it is elaborated."""
    claim(component)
    return pickle.loads(_stored(entry_name(component, read), lambda: pickle.dumps(_made(component, read))))


def computed(component: Component, compute: Callable[[Component], Any]) -> Any:
    """The result of a function of the elaborated component, from the cache if it is there."""
    claim(component)
    name = _entry("computed", component, compute)
    return pickle.loads(_stored(name, lambda: pickle.dumps(_elaborated(component, compute))))


def entry_name(component: Component, read: Callable[[Component], Any]) -> str | None:
    """The name in the cache; None for components from outside this package's files."""
    return _entry("verilog", component, read)


def _stored(name: str | None, make: Callable[[], bytes]) -> bytes:
    return make() if name is None else cache.stored(name, make)


def _entry(kind: str, component: Component, *more: Any) -> str | None:
    """The name in the cache of a product of a component and of all other inputs."""
    made_of, translator = recipe(component, *more), _translator()
    if made_of is None or translator is None:
        return None
    digest = sources.digest(MODULE, *made_of.modules)
    return f"{kind}-{cache.key(made_of.digest, translator.digest, digest)}"


@functools.cache
def _translator() -> Recipe | None:
    """The translator that this process has loaded, even if its sources have changed since."""
    return recipe_of(tree_of, text)


@interrupt.kept()
def _elaborated(component: Component, compute: Callable[[Component], Any]) -> Any:
    if not component._dsl.constructed:
        component.elaborate()
    return compute(component)


@interrupt.kept()
def _made(component: Component, read: Callable[[Component], Any]) -> tuple[str, Any]:
    found = _elaborated(component, read)
    return translate(component), found
