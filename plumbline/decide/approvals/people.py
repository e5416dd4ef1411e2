"""Who may approve what: people with their roles and their public keys, in a file beside the bands."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from plumbline.base.errors import ApprovalError, BandError, NotFoundError
from plumbline.decide.bands.parts import Name, Part
from plumbline.decide.bands.reading import parse_yaml, plain, problems_of, read_text

__all__ = ["ROLES", "People", "Person", "read_people"]

Role = Literal["agent_owner", "platform_owner", "reviewer"]
_SAMPLE = """schema: plumbline.people/1
people:
  ana: {roles: [agent_owner], key: ssh-ed25519 AAAA…}
  pat: {roles: [platform_owner], key: ssh-ed25519 AAAA…}
  rita: {roles: [reviewer], key: ssh-ed25519 AAAA…}"""
ROLES = ("agent_owner", "platform_owner", "reviewer")


class Person(Part):
    """One person: roles, and the public half of an SSH key."""

    roles: tuple[Role, ...]
    key: str = ""
    """As in ``id_ed25519.pub``; empty where only the git identity is known."""


class People(Part):
    """Everyone who may approve.

    ``identity: signed`` wants an SSH signature on every record. ``identity: git`` takes the name a commit carries: a
    weaker guarantee, since anyone who can write the repository can write a name; records made so say it.
    """

    format: Literal["plumbline.people/1"] = Field(alias="schema")
    identity: Literal["signed", "git"] = "signed"
    people: dict[Name, Person]

    def person(self, name: str) -> Person:
        """Return a person.

        Raises
        ------
        ApprovalError
            Nobody of that name.
        """
        if name not in self.people:
            known = ", ".join(self.people) or "nobody"
            raise ApprovalError(
                "unknown_person", f"{name!r} is not among the people ({known})", "add them to people.yaml"
            )
        return self.people[name]


def read_people(path: str | Path) -> People:
    """Read who may approve.

    Parameters
    ----------
    path : path
        A YAML file.

    Returns
    -------
    People

    Raises
    ------
    NotFoundError, BandError
        No such file, or something wrong in it, with its line.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no file of people {path}; write one, such as:\n{_SAMPLE}")
    text = read_text(path, "file of people")
    tree, lines = parse_yaml(text, str(path))
    values = plain(tree)
    try:
        return People.model_validate(values)
    except ValidationError as error:
        problems = problems_of(error, source=str(path), lines=lines, model=People, given=values)
        raise BandError(f"{path} cannot be used: {len(problems)} to mend", problems) from None
