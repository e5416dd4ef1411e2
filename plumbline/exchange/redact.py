"""Content taken out before anything is stored. What a rule cannot be applied to stops the import."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import NotFoundError, ParameterError, TraceFormatError
from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, TrialDraft, Unreadable
from plumbline.exchange.redact_rules import Rule, Work

__all__ = ["Redaction", "redaction"]

_RULE_KEYS = {"name", "keys", "pattern", "replace", "ignore_case"}
_TOP_KEYS = {"rules", "unreadable"}
_STEP_VALUES = ("arguments", "result")
_STEP_TEXTS = ("name", "call_id", "parent_call_id", "agent", "error_type", "error", "evidence", "injected")
_TRIAL_VALUES = ("outcome", "context", "fault")
_TRIAL_TEXTS = ("source", "error", "prompt", "final_output", "model")


@dataclass(frozen=True)
class Redaction:
    """Rules that take content out of drafts.

    Parameters
    ----------
    rules : tuple of Rule
        Applied in order.
    unreadable : str
        ``stop``: a value that could not be read stops the import, since no rule can be shown to hold for it. ``drop``:
        its text is left out and its reason kept.
    digest : str
        Of the rules, so that a run says with which it was made.
    """

    rules: tuple[Rule, ...]
    unreadable: str = "stop"
    digest: str = field(default="", compare=False)

    def apply(self, drafts: Sequence[TrialDraft]) -> dict[str, Any]:
        """Redact drafts in place and return what was done: rules and how many values each changed.

        Raises
        ------
        TraceFormatError
            A value could not be read, or a rule's key stands in text that is not JSON, so that the rule cannot be
            applied.
        """
        work = Work(self.rules)
        for draft in drafts:
            work.where = draft.source
            for step in draft.steps:
                self._step(step, work)
            self._trial(draft, work)
        return {
            "digest": self.digest,
            "rules": {rule.name: work.counts[rule.name] for rule in self.rules},
            "unreadable": self.unreadable,
        }

    def _step(self, step: StepDraft, work: Work) -> None:
        for name in _STEP_VALUES:
            value = getattr(step, name)
            if isinstance(value, Unreadable):
                setattr(step, name, self._unread(value, step, name, work))
            elif value is not NOT_RECORDED:
                setattr(step, name, work.value(value))
        for name in _STEP_TEXTS:
            if getattr(step, name) is not None:
                setattr(step, name, work.value(getattr(step, name)))
        step.unread = [work.line(line) for line in step.unread]

    def _trial(self, draft: TrialDraft, work: Work) -> None:
        for name in (*_TRIAL_VALUES, *_TRIAL_TEXTS):
            if getattr(draft, name) is not None:
                setattr(draft, name, work.value(getattr(draft, name)))
        draft.attributes = {key: work.attribute(key, value) for key, value in dict(draft.attributes).items()}
        draft.unread = [work.line(line) for line in draft.unread]
        draft.said = [work.line(line) for line in draft.said]
        for name in ("arm", "task", "family", "perturbation", "variant"):
            value = getattr(draft.labels, name)
            if value is not None and work.value(value) != value:
                raise TraceFormatError(
                    f"the {name} {value!r} is what a redaction rule takes out", source=draft.source,
                    mend=f"Give {name}= yourself; a label that was redacted would put different trials in one.",
                )  # fmt: skip

    def _unread(self, value: Unreadable, step: StepDraft, name: str, work: Work) -> Unreadable:
        if self.unreadable == "drop":
            return Unreadable("(left out by redaction)", value.reason)
        raise TraceFormatError(
            f"the {name} of a call of {step.name!r} could not be read ({value.reason}), so that no rule can be applied",
            source=work.where,
            mend="Write 'unreadable: drop' beside 'rules' to leave such text out, or mend the file.",
        )  # fmt: skip


def redaction(given: str | Path | Redaction | Mapping[str, Any] | None) -> Redaction | None:
    """Read redaction rules from a YAML file or a mapping; None for None.

    Parameters
    ----------
    given : path, mapping or Redaction
        ``rules``: a list of ``{name, keys: […]}`` (key names, or dotted paths with ``*`` for any one key) or
        ``{name, pattern: …}`` (regular expression), each with an optional ``replace`` text. ``unreadable``: ``stop``
        (default) or ``drop``.

    Raises
    ------
    ParameterError
        A rule that cannot be used as written.
    NotFoundError
        There is no such file.

    Examples
    --------
    >>> rules = redaction({"rules": [{"name": "mail", "pattern": "[a-z]+@[a-z.]+", "replace": "(mail)"}]})
    >>> draft = TrialDraft(source="f", prompt="write to ann@example.org")
    >>> rules.apply([draft])["rules"], draft.prompt
    ({'mail': 1}, 'write to (mail)')
    """
    if given is None or isinstance(given, Redaction):
        return given
    where = "redact"
    if isinstance(given, str | Path):
        where, given = Path(given).name, _loaded(Path(given))
    if not isinstance(given, Mapping) or set(given) - _TOP_KEYS or not isinstance(given.get("rules"), list):
        raise ParameterError(f"{where}: needs a list 'rules' and allows 'unreadable'; found {_shape(given)}")
    unreadable = given.get("unreadable", "stop")
    if unreadable not in ("stop", "drop"):
        raise ParameterError(f"{where}: unreadable is 'stop' or 'drop'; found {unreadable!r}")
    rules = tuple(_rule(rule, f"{where} rule {number}") for number, rule in enumerate(given["rules"], 1))
    if not rules:
        raise ParameterError(f"{where}: holds no rule; leave the option out if nothing is to be redacted")
    if len({rule.name for rule in rules}) != len(rules):
        raise ParameterError(f"{where}: each rule needs a name of its own; found {[rule.name for rule in rules]}")
    digest = hashlib.sha256(canonical_json(dict(given)).encode()).hexdigest()
    return Redaction(rules, unreadable, f"sha256:{digest}")


def _loaded(path: Path) -> Any:
    import yaml

    if not path.is_file():
        raise NotFoundError(f"there is no file of redaction rules {str(path)!r}")
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path.name} is not YAML: {' '.join(str(error).split())}") from None


def _rule(given: Any, where: str) -> Rule:
    if not isinstance(given, Mapping) or (unknown := set(given) - _RULE_KEYS):
        found = sorted(map(str, unknown)) if isinstance(given, Mapping) else _shape(given)
        raise ParameterError(f"{where}: allowed are {', '.join(sorted(_RULE_KEYS))}; found {found}")
    name, replacement = given.get("name"), given.get("replace", "[redacted]")
    if not isinstance(name, str) or not name or not isinstance(replacement, str):
        raise ParameterError(f"{where}: needs a name in text, and 'replace' in text if given")
    if ("keys" in given) == ("pattern" in given):
        raise ParameterError(f"{where} ({name}): needs either keys or a pattern")
    if "keys" in given:
        keys = given["keys"]
        if not isinstance(keys, list) or not keys or not all(isinstance(k, str) and k.strip(".*") for k in keys):
            raise ParameterError(f"{where} ({name}): keys is a list of key names or dotted paths; found {keys!r}")
        if "ignore_case" in given:
            raise ParameterError(f"{where} ({name}): ignore_case goes with a pattern")
        return Rule(name, replacement, paths=tuple(tuple(key.split(".")) for key in keys))
    return Rule(name, replacement, pattern=_pattern(given, replacement, f"{where} ({name})"))


def _pattern(given: Mapping[str, Any], replacement: str, where: str) -> re.Pattern[str]:
    text = given["pattern"]
    if not isinstance(text, str) or not isinstance(given.get("ignore_case", False), bool):
        raise ParameterError(f"{where}: pattern is text and ignore_case true or false")
    try:
        pattern = re.compile(text, re.IGNORECASE if given.get("ignore_case") else 0)
    except re.error as error:
        raise ParameterError(f"{where}: {text!r} is no regular expression: {error}") from None
    if pattern.search(""):
        raise ParameterError(f"{where}: {text!r} matches empty text, so that everything would match")
    if pattern.search(replacement):
        raise ParameterError(f"{where}: the replacement {replacement!r} matches the pattern itself")
    return pattern


def _shape(given: Any) -> str:
    return f"the keys {sorted(map(str, given))}" if isinstance(given, Mapping) else f"a {type(given).__name__}"
