"""A digest of a function, so that a policy whose predicate was edited is seen to be another policy."""

from __future__ import annotations

import functools
import hashlib
import inspect
import textwrap
import types
from collections.abc import Callable
from typing import Any

from plumbline.base.canonical import canonical_json

__all__ = ["callable_digest", "callable_name"]


def callable_name(function: Callable[..., Any]) -> str:
    """Return ``module:qualname`` of a function, or that of its type for other callables.

    Examples
    --------
    >>> callable_name(len)
    'builtins:len'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def callable_digest(function: Callable[..., Any]) -> str:
    """Return a digest of a function's source, defaults and the plain values it closes over.

    The source is used where it can be found, otherwise the compiled code, which differs between Python versions.
    What the function calls in turn is not followed: a helper that changes is not seen.

    Examples
    --------
    >>> callable_digest(lambda args, context: True)[:7]
    'sha256:'
    """
    return "sha256:" + hashlib.sha256(canonical_json(_describe(function)).encode()).hexdigest()


def _describe(function: Any) -> Any:
    if isinstance(function, functools.partial):
        keywords = {key: _plain(value) for key, value in function.keywords.items()}
        return {"partial": _describe(function.func), "args": [_plain(v) for v in function.args], "keywords": keywords}
    if isinstance(function, types.MethodType):
        return {"method": _describe(function.__func__), "of": _state(function.__self__)}
    if not isinstance(function, types.FunctionType):
        call = inspect.getattr_static(type(function), "__call__", None)
        code = _code(call) if isinstance(call, types.FunctionType) else None
        return {"callable": callable_name(function), "call": code, "of": _state(function)}
    cells = [_plain(_content(cell)) for cell in function.__closure__ or ()]
    keyword_defaults = {key: _plain(value) for key, value in (function.__kwdefaults__ or {}).items()}
    defaults = [_plain(value) for value in function.__defaults__ or ()]
    return {"code": _code(function), "defaults": defaults, "keywords": keyword_defaults, "closure": cells}


def _state(value: Any) -> dict[str, Any]:
    return {key: _plain(member) for key, member in getattr(value, "__dict__", {}).items()}


def _code(function: types.FunctionType) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        code = function.__code__
        return f"{code.co_code.hex()} {code.co_names} {[_plain(constant) for constant in code.co_consts]}"


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that is not yet assigned
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, types.FunctionType):
        return {"code": _code(value)}
    if isinstance(value, types.CodeType):
        return {"code": value.co_code.hex()}
    try:
        return {"value": canonical_json(value)}
    except (TypeError, ValueError):
        return {"type": f"{type(value).__module__}:{type(value).__qualname__}"}
