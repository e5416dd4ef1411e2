"""A domain: tasks, tools, a system of record, what should happen, and the policy that agents must keep.

Plumbline never imports a domain by name; ``load_domain`` finds one when asked.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.rules import Perturbation, Policy, TaskView
from plumbline.rules.metamorphic import Case, Relation
from plumbline.running import Agent, Fault, Task, Tool, TrialKey, Variant, unchanged
from plumbline.traces import Recording

__all__ = ["Domain", "known_domains", "load_domain"]

_SHIPPED = "plumbline.domains"


def _no_fault(key: TrialKey) -> Fault | None:
    return None


@dataclass(frozen=True, eq=False)
class Domain:
    """Everything a study needs to know of the world its agents act in.

    Parameters
    ----------
    name, title : str
        Short name and a title for people.
    tasks : tuple of Task
        The cases, each id once.
    new_world : callable
        Makes a fresh system of record; a trial closes it if it has ``close()``.
    tools, decoys : tuple of Tool
        The tools that work, and those that may be offered although they do not exist.
    outcome : callable
        ``outcome(world, task)`` reads the terminal state from the system of record, as JSON values.
    truth : callable
        ``truth(task)`` derives the task's context: what the system of record says should happen.
    grade : callable
        ``grade(outcome, context)`` says whether the terminal state is right.
    policy : Policy
        The rules that every trial is checked against.
    argument_fields : mapping
        Tool to field to ``(kind, severity)``: how arguments are compared between arms.
    arms : mapping of str to callable
        Name to a function that makes the agent.
    perturbations : tuple of str
        Names of the perturbations that ``variant`` knows, the baseline first.
    variant : callable
        ``variant(task, perturbation, variant)`` gives what the agent was given in the domain's recorded studies.
    catalog : callable, optional
        Gives the domain's perturbations by name, the baseline first; new studies draw their variants from it.
    view : callable, optional
        ``view(task)`` gives what perturbations and their guard see of a task; needed with a catalog.
    fault : callable
        ``fault(key)`` gives the fault planned for a trial, or None.
    case : callable, optional
        ``case(task)`` gives a task's input as plain rows, see ``plumbline.rules.metamorphic.Case``; needed by relations
        that change more than the request.
    world : callable, optional
        ``world(case)`` makes a fresh system of record with the rows of a case; needed by relations that change rows.
    relations : callable, optional
        Gives the domain's metamorphic relations.
    rebuild : callable, optional
        ``rebuild(facts)`` makes recordings from a folder of published facts, where the domain has one.

    Raises
    ------
    ParameterError
        A task id or a tool name stands twice, there is no task or no tool, or a catalog comes without a view.
    """

    name: str
    title: str
    tasks: tuple[Task, ...] = field(kw_only=True)
    new_world: Callable[[], Any] = field(kw_only=True)
    tools: tuple[Tool, ...] = field(kw_only=True)
    outcome: Callable[[Any, Task], Mapping[str, Any]] = field(kw_only=True)
    truth: Callable[[Task], Mapping[str, Any]] = field(kw_only=True)
    grade: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] = field(kw_only=True)
    policy: Policy = field(kw_only=True)
    decoys: tuple[Tool, ...] = field(default=(), kw_only=True)
    argument_fields: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict, kw_only=True)
    arms: Mapping[str, Callable[..., Agent]] = field(default_factory=dict, kw_only=True)
    perturbations: tuple[str, ...] = field(default=("baseline",), kw_only=True)
    variant: Callable[[Task, str, str], Variant] = field(default=unchanged, kw_only=True)
    catalog: Callable[[], Mapping[str, Perturbation]] | None = field(default=None, kw_only=True)
    view: Callable[[Task], TaskView] | None = field(default=None, kw_only=True)
    fault: Callable[[TrialKey], Fault | None] = field(default=_no_fault, kw_only=True)
    case: Callable[[Task], Case] | None = field(default=None, kw_only=True)
    world: Callable[[Case], Any] | None = field(default=None, kw_only=True)
    relations: Callable[[], Sequence[Relation]] | None = field(default=None, kw_only=True)
    rebuild: Callable[[Path], Iterable[Recording]] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        names = {"task": [t.id for t in self.tasks], "tool": [t.name for t in (*self.tools, *self.decoys)]}
        for what, found in names.items():
            if not found or len(set(found)) != len(found):
                raise ParameterError(f"domain {self.name!r} needs at least one {what}, each name once; found {found}")
        if self.catalog is not None and self.view is None:
            raise ParameterError(f"domain {self.name!r} has a catalog of perturbations and no view= of its tasks")

    def task(self, task_id: str) -> Task:
        """Return a task by its id.

        Raises
        ------
        NotFoundError
            The domain has no such task.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise NotFoundError(
            f"domain {self.name!r} has no task {task_id!r}; it has {', '.join(t.id for t in self.tasks)}"
        )

    def __repr__(self) -> str:
        return f"Domain({self.name!r}: {len(self.tasks)} tasks, {len(self.tools)} tools)"


def known_domains() -> list[str]:
    """Return the names of the domains that are installed with plumbline.

    Examples
    --------
    >>> "procure_to_pay" in known_domains()
    True
    """
    package = importlib.import_module(_SHIPPED)
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg)


def load_domain(name: str) -> Domain:
    """Find a domain by its name.

    Parameters
    ----------
    name : str
        A domain installed with plumbline (``"procure_to_pay"``), or ``"module:attribute"`` for one of your own.

    Returns
    -------
    Domain

    Raises
    ------
    NotFoundError
        There is no such domain, module or attribute; the message lists the domains there are.
    ParameterError
        What was found is not a ``Domain``.

    Examples
    --------
    >>> load_domain("procure_to_pay")
    Domain('procure_to_pay': 8 tasks, 8 tools)
    """
    if not isinstance(name, str) or not name:
        raise ParameterError(f"a domain is named by text, 'procure_to_pay' or 'module:attribute'; found {name!r}")
    known = known_domains()
    if ":" not in name and name not in known:
        raise NotFoundError(f"no domain {name!r}; there are {', '.join(known)}. Your own is named 'module:attribute'.")
    place, _, attribute = name.partition(":") if ":" in name else (f"{_SHIPPED}.{name}", ":", "DOMAIN")
    try:
        module = importlib.import_module(place)
        found = getattr(module, attribute)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise  # the module is there, something that it imports is not
        raise NotFoundError(f"no module {place!r} for domain {name!r}; shipped are {', '.join(known)}") from None
    except AttributeError:
        raise NotFoundError(f"module {place!r} has no {attribute!r} for domain {name!r}") from None
    if not isinstance(found, Domain):
        raise ParameterError(f"{name!r} names a {type(found).__name__}, not a plumbline.Domain")
    return found
