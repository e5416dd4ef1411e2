"""``plumbline new-domain NAME``: a small domain that runs and is tested, to be made one's own."""

from __future__ import annotations

import argparse
import keyword
from pathlib import Path
from typing import Any

__all__ = ["register"]

_FILES = {"__init__.py": "__init__.py.txt", "domain.py": "domain.py.txt", "test_{name}.py": "test_domain.py.txt"}
_NAME = "THE_DOMAIN"


def register(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "new-domain",
        help="lay a skeleton of a domain of your own",
        description="Write a package with a small domain that has everything: tables, tools, truth, policy, "
        "perturbations, a reference agent and its tests. Replace it part by part.",
        allow_abbrev=False,
    )
    command.add_argument("name", metavar="NAME", help="name of the package, a Python name such as refunds")
    command.add_argument("--out", metavar="FOLDER", default=".", help="where the package is put (default: here)")
    command.set_defaults(run=_new_domain)


def _new_domain(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.domain import known_domains
    from plumbline.traces import write_text

    name = arguments.name
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise ParameterError(f"{name!r} cannot be the name of a package; write it like refunds or claims_handling")
    if name in known_domains():
        raise ParameterError(f"{name!r} is a domain that comes with plumbline; choose another name")
    folder = Path(arguments.out) / name
    if folder.exists():
        raise ParameterError(f"{folder} is there already; nothing was written")
    folder.mkdir(parents=True)
    templates = Path(__file__).with_name("_templates") / "new_domain"
    for target, source in _FILES.items():
        text = (templates / source).read_text(encoding="utf-8").replace(_NAME, name)
        write_text(folder / target.format(name=name), text)
    place = f"{name}.domain"
    print(f"written   {folder}")
    print(f"test it   python -m pytest {folder}")
    print(f"run it    plumbline run {place}:reference --domain {place}:DOMAIN --out runs/first --yes")
    return 0
