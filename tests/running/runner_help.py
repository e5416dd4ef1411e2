"""A small study on the counting domain, for the tests of the runner."""

from __future__ import annotations

from plumbline.running import Variant, run_study


def careful(task, toolbox):
    toolbox.call("read", {})
    toolbox.call("add", {"by": 1})
    return "done"


def pair(task, perturbation, name):
    return Variant(f"{task.prompt} ({perturbation} {name})" if perturbation != "baseline" else task.prompt)


def quick(system, out=None, **more):
    given = {"arms": {"a": careful}, "variants": 2, "repetitions": 2, "clock": None, "workers": 4} | more
    return run_study(system, out=out, **given)
