"""``plumbline run procure_to_pay --arm react --model … --budget 5.00 --out RUN``: a study, live, capped, resumable."""

from __future__ import annotations

import argparse
import sys
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    run = commands.add_parser(
        "run",
        help="run agents on a domain's tasks and record every trial",
        description="Run agents on the tasks of a domain, perturbed and repeated, many trials at a time. The plan is "
        "sealed and shown with its estimated cost before the first call; a run that was stopped is resumed.",
        allow_abbrev=False,
    )
    run.add_argument("what", metavar="DOMAIN|module:agent", help="a domain, or an agent of your own (with --domain)")
    run.add_argument("--domain", metavar="NAME", help="domain whose tasks your own agent is given, or module:attribute")
    run.add_argument("--arm", action="append", default=[], metavar="NAME", help="arm of the domain; may be repeated")
    run.add_argument("--tasks", nargs="+", metavar="ID", help="tasks (default: all)")
    run.add_argument(
        "--perturb", nargs="+", default=["baseline"], metavar="NAME",
        help="perturbations, the base first (baseline); a+b is both, one after the other",
    )  # fmt: skip
    run.add_argument("--variants", type=int, default=4, help="variants of each (default: 4)")
    run.add_argument("--repetitions", type=int, default=2, help="how often each is issued (default: 2)")
    run.add_argument("--seed", type=int, default=7, help="seed of variants and of the order of trials (default: 7)")
    run.add_argument("--workers", type=int, default=8, help="trials at a time (default: 8)")
    run.add_argument("--out", required=True, metavar="RUN", help="run folder")
    run.add_argument("--resume", action="store_true", help="go on with the study in the run folder")
    run.add_argument("--yes", action="store_true", help="do not ask before the first call")
    _add_model(run)
    run.set_defaults(run=_run)


def _add_model(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--model", help="model that the arms ask, as its provider names it; 'local' for one on this machine"
    )
    run.add_argument(
        "--api", choices=("anthropic", "openai"),
        help="what the server speaks (default: anthropic, or openai with --base-url)",
    )  # fmt: skip
    run.add_argument("--base-url", metavar="URL", help="server to ask instead of the provider's")
    run.add_argument("--price", metavar="in=…,out=…", help="price of the model, US dollars per million tokens")
    run.add_argument("--budget", type=float, metavar="USD", help="most that may be spent, over all resumed runs")
    run.add_argument("--offline", action="store_true", help="answer from the run's ledger alone")


def _run(arguments: argparse.Namespace) -> int:
    from plumbline.running import ProgressLine, run_study

    domain, arms = _resolve(arguments)
    client, model, prices = _asked(arguments)
    line = ProgressLine(sys.stderr)
    try:
        recording = run_study(
            domain, arms=arms, tasks=arguments.tasks, perturbations=arguments.perturb, variants=arguments.variants,
            repetitions=arguments.repetitions, client=client, model=model, prices=prices, budget=arguments.budget,
            workers=arguments.workers, out=arguments.out, resume=arguments.resume, offline=arguments.offline,
            seed=arguments.seed, progress=line, approve=None if arguments.yes else _ask,
        )  # fmt: skip
    finally:
        line.close()
        getattr(client, "close", lambda: None)()
    study = recording.notes["study"]
    print(f"{arguments.out}: {recording.counts()}")
    for status, count in study["statuses"].items():
        print(f"  {count:7,} {status}")
    for name, count in study["effects"]["counts"].items():
        print(f"  {count:7,} {name} (see notes.study.effects in the manifest)")
    if not study["complete"]:
        print("Not complete. Go on with the same command and --resume.")
    return 0


def _resolve(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Return the domain and the arms: named ones, or the one agent that was given."""
    from plumbline.base.errors import ParameterError
    from plumbline.domain import Domain, load_domain

    thing = _imported(arguments.what) if ":" in arguments.what else load_domain(arguments.what)
    if isinstance(thing, Domain):
        if arguments.domain:
            raise ParameterError(f"{arguments.what} is a domain; --domain is for an agent of your own")
        if not arguments.arm:
            raise ParameterError(f"choose arms with --arm; domain {thing.name!r} has {', '.join(thing.arms) or 'none'}")
        return thing, arguments.arm
    if not callable(thing):
        raise ParameterError(f"{arguments.what} is neither a domain nor an agent; found {type(thing).__name__}")
    if not arguments.domain or len(arguments.arm) > 1:
        raise ParameterError("an agent of your own needs --domain NAME for its tasks and tools, and one --arm at most")
    name = arguments.arm[0] if arguments.arm else arguments.what.partition(":")[2]
    return load_domain(arguments.domain), {name: thing}


def _imported(place: str) -> Any:
    """Import ``module:attribute``, also from the folder where the command is run."""
    import importlib

    from plumbline.base.errors import NotFoundError

    module, _, attribute = place.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise NotFoundError(f"no module {module!r}; name an agent or a domain as module:attribute") from None
    except AttributeError:
        raise NotFoundError(f"module {module!r} has no {attribute!r}") from None


def _asked(arguments: argparse.Namespace) -> tuple[Any, str | None, Any]:
    """Return the client, the name of its model and the prices."""
    from plumbline.base.errors import ParameterError
    from plumbline.running.clients import LOCAL_MODEL, LocalModel, local_prices

    if arguments.model != "local":
        return _client(arguments), arguments.model, _prices(arguments)
    if odd := [f"--{n}" for n in ("api", "base-url", "price") if getattr(arguments, n.replace("-", "_"))]:
        raise ParameterError(f"{', '.join(odd)} with --model local: its server is started here and costs nothing")
    return None if arguments.offline else LocalModel(seed=arguments.seed), LOCAL_MODEL, local_prices()


def _client(arguments: argparse.Namespace) -> Any:
    from plumbline.base.errors import ParameterError
    from plumbline.running.clients import model_client

    if arguments.model is None:
        if odd := [f"--{n}" for n in ("api", "base-url", "price") if getattr(arguments, n.replace("-", "_"))]:
            raise ParameterError(f"{', '.join(odd)} without --model: say which model is asked")
        return None
    return None if arguments.offline else model_client(api=arguments.api or "", base_url=arguments.base_url or "")


def _prices(arguments: argparse.Namespace) -> Any:
    from datetime import UTC, datetime

    from plumbline.running.clients import Prices, parse_price

    if arguments.price is None:
        return None
    return Prices({arguments.model: parse_price(arguments.price, as_of=datetime.now(UTC).date().isoformat())})


def _ask(sealed: Any) -> bool:
    """Show the sealed plan; ask a person, and let a plan that costs nothing pass where nobody can be asked."""
    from plumbline.base.errors import ParameterError

    plan, cost = sealed.plan, sealed.estimate
    print(
        f"{len(plan.arms)} arms ({', '.join(plan.arms)}) x {len(plan.tasks)} tasks x {len(plan.perturbations)} "
        f"perturbations x {len(plan.variants)} variants x {plan.repetitions} repetitions\n{cost}\nsealed {sealed.seal}",
        file=sys.stderr,
    )
    if short := sealed.missing():
        print(f"without a variant: {len(short)} cells, the first is {short[0]}", file=sys.stderr)
    if cost.cost_usd == 0 and not cost.calls:
        return True
    if not sys.stdin.isatty():
        raise ParameterError("nobody can be asked whether to run this; add --yes")
    print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
