"""Call a function as soon as a module is loaded, without loading it.

A library for this exists (wrapt), but importing it takes four times as long as importing plumbline may.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["when_imported"]


def when_imported(name: str, call: Callable[[ModuleType], None]) -> None:
    """Call ``call(module)`` now if the module is loaded, otherwise once, right after it has been loaded."""
    module = sys.modules.get(name)
    if module is not None:
        call(module)
    else:
        sys.meta_path.insert(0, _Waiting(name, call))


class _Waiting(MetaPathFinder):
    def __init__(self, name: str, call: Callable[[ModuleType], None]) -> None:
        self.name, self.call = name, call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self)
        return spec


class _Telling(Loader):
    def __init__(self, inner: Loader, waiting: _Waiting) -> None:
        self.inner, self.waiting = inner, waiting

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self.waiting in sys.meta_path:
            sys.meta_path.remove(self.waiting)
        if module.__spec__ is not None:
            module.__spec__.loader = self.inner
        module.__loader__ = self.inner
        self.inner.exec_module(module)
        self.waiting.call(module)
