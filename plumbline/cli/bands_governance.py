"""``plumbline bands approve|rebaseline|keep|waive|review|log|at``: who changed, approved and waived what, and when."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plumbline.decide.approvals import Approval, Book

__all__ = ["add_commands", "add_judging", "judged_in_book"]

_DAYS = 14


def add_commands(verbs: Any) -> None:
    """Add the verbs to ``plumbline bands``."""
    approve = _verb(verbs, "approve", _approve, "approve a new version; with all approvals there it comes into force")
    approve.add_argument("file", metavar="FILE", help="band file")
    approve.add_argument("--role", help="agent_owner, platform_owner or reviewer (default: the one that is needed)")

    text = _verb(verbs, "rebaseline", _rebaseline, "approve a new baseline of a text case, having seen both texts")
    text.add_argument("case", metavar="FIXTURE")
    text.add_argument("before", metavar="BEFORE", help="file with the text of the old baseline")
    text.add_argument("after", metavar="AFTER", help="file with the new text")

    keep = _verb(verbs, "keep", _keep, "keep an approved version of a prompt or of tool definitions")
    keep.add_argument("kind", choices=("prompt", "tool_definitions"))
    keep.add_argument("name", metavar="NAME")
    keep.add_argument("file", metavar="FILE")
    keep.add_argument("--role", default="reviewer", help="agent_owner, platform_owner or reviewer (default)")

    waive = _verb(verbs, "waive", _waive, "let one measured failure through, for a while and for one change")
    waive.add_argument("fixture", metavar="FIXTURE")
    waive.add_argument("field", metavar="FIELD")
    waive.add_argument("--measured", help="what was measured; or give --report")
    waive.add_argument("--report", metavar="FILE", help="what `plumbline bands check --json` printed, to take it from")
    waive.add_argument("--baseline", required=True, metavar="RUN", help="run folder of the incumbent")
    waive.add_argument("--arm", help="its arm, where it has several")
    waive.add_argument("--link", required=True, help="the change, such as the address of a pull request")
    waive.add_argument("--scope", required=True, help="branch or release where it holds")
    waive.add_argument(
        "--evidence",
        action="append",
        default=[],
        required=True,
        metavar="NAME=FILE",
        help="what the approver looked at",
    )
    waive.add_argument("--expires", metavar="DATE", help=f"last day (default: a free day within {_DAYS} days)")
    for verb in (approve, text, keep, waive):
        verb.add_argument("--as", dest="approver", required=True, metavar="NAME", help="who approves")
        verb.add_argument("--author", required=True, metavar="NAME", help="who wrote it or asks for it")
        verb.add_argument("--reason", required=True, help="one line")
        verb.add_argument("--key", metavar="FILE", help="the approver's private SSH key (Ed25519)")

    review = _verb(verbs, "review", _review, "what is due, and what it should look at")
    review.add_argument(
        "--done", metavar="KIND", help="write down that a review was held: skim, recalibration, sample_size"
    )
    review.add_argument("--as", dest="approver", metavar="NAME", help="who held it")
    review.add_argument("--note", default="", help="what came of it")

    _verb(verbs, "log", _log, "the history: versions, approvals, decisions")
    at = _verb(verbs, "at", _at, "which rules were in force at a date, or when a request was decided")
    at.add_argument("date", metavar="DATE", help="a day, or a time with its zone")
    at.add_argument("--request", metavar="DIGEST", help="start of the digest of a request")


def add_judging(check: argparse.ArgumentParser) -> None:
    """Add what lays the waivers of a book on a report and writes the decision down."""
    check.add_argument("--book", metavar="FOLDER", help="lay its waivers on the report and write the decision into it")
    check.add_argument("--link", help="with --book: the change that is decided, such as the address of a pull request")
    check.add_argument("--scope", help="with --book: branch or release")


def judged_in_book(report: Any, arguments: argparse.Namespace) -> Any:
    """Lay the waivers of a book on a report, write the decision down, and return the report."""
    from plumbline.base.errors import ParameterError
    from plumbline.decide.approvals import lay_waivers, read_waivers, record_decision
    from plumbline.decide.approvals.clock import moment_of

    if not arguments.link or not arguments.scope:
        raise ParameterError("--book needs --link CHANGE and --scope BRANCH: a waiver is for one change in one place")
    book = _book(arguments)
    now = datetime.now(UTC) if arguments.today is None else moment_of(arguments.today, "--today")
    waivers = read_waivers(book.folder / "waivers.yaml", today=now.date())
    laid = lay_waivers(report, waivers, book.people, now=now, link=arguments.link, scope=arguments.scope)
    request = {
        "bands": report.bands.digest, "baseline": report.baseline.digest, "baseline_arm": report.baseline_arm,
        "candidate": report.candidate.digest, "candidate_arm": report.candidate_arm, "scorer": list(report.scorer),
        "fixtures": report.fixtures, "link": arguments.link, "scope": arguments.scope,
        "waivers": [one.digest for one in waivers],
    }  # fmt: skip
    held = [one.digest for one in laid.held]
    record = record_decision(book, request=request, decision=laid.report.decision, now=now, waived=held)
    print(f"{laid}\nrequest {record.body['request']}", file=sys.stderr)
    return laid.report


def _verb(verbs: Any, name: str, run: Any, words: str) -> Any:
    verb = verbs.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.", allow_abbrev=False)
    verb.add_argument("--book", default="bands.book", metavar="FOLDER", help="folder of the book (default: bands.book)")
    if name != "at":
        verb.add_argument("--now", metavar="DATE", help="moment this happens at (default: the clock's)")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run=run)
    return verb


def _now(arguments: argparse.Namespace) -> datetime:
    from plumbline.decide.approvals.clock import moment_of

    return datetime.now(UTC) if arguments.now is None else moment_of(arguments.now, "--now")


def _book(arguments: argparse.Namespace) -> Book:
    from plumbline.base.errors import NotFoundError
    from plumbline.decide.approvals import Book

    folder = Path(arguments.book)
    if not folder.is_dir():
        raise NotFoundError(f"there is no book {folder}; make the folder and write people.yaml into it, or give --book")
    return Book(folder)


def _key(arguments: argparse.Namespace) -> Any:
    from plumbline.decide.approvals import read_key

    return None if arguments.key is None else read_key(arguments.key)


def _text(name: str) -> str:
    from plumbline.base.errors import InputError, NotFoundError

    path = Path(name)
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error})") from None


def _show(arguments: argparse.Namespace, values: Any, text: str) -> None:
    print(json.dumps(values, indent=1, ensure_ascii=False, default=str) if arguments.json else text)


def _approve(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ApprovalError
    from plumbline.decide.approvals import approve, changes_to_approve, checked
    from plumbline.decide.approvals.changes import as_json
    from plumbline.decide.bands import load_bands

    now, book = _now(arguments), _book(arguments)
    bands = load_bands(arguments.file, today=now.date())
    changes = changes_to_approve(book.latest(now), bands)
    held = book.people.person(arguments.approver).roles
    role = arguments.role or next((one for one in changes.roles if one in held), changes.roles[0])
    made = approve(
        kind="bands", subject=bands.digest, before=changes.before, author=arguments.author, approver=arguments.approver,
        role=role, reason=arguments.reason, at=now, key=_key(arguments), about=f"version {bands.version}",
    )  # fmt: skip
    alone = not changes.looser
    checked(made, book.people, now=now, subject=bands.digest, alone=alone)
    lacking = ""
    try:
        book.adopt(bands, author=arguments.author, now=now, approvals=[made])
    except ApprovalError as error:
        if error.refusal != "missing_approval":
            raise
        book.add("approval", made.to_dict(), at=now)
        lacking = str(error)
    state = f"not yet in force: {lacking}" if lacking else f"version {bands.version} is approved, {bands.digest}"
    values = {"approval": made.to_dict(), "adopted": not lacking, "lacking": lacking, **as_json(changes)}
    _show(arguments, values, f"{changes}\n{made}\n  {made.guarantee}\n{state}")
    return 3 if lacking else 0


def _rebaseline(arguments: argparse.Namespace) -> int:
    from plumbline.decide.approvals import checked, rebaseline

    now, book = _now(arguments), _book(arguments)
    made = rebaseline(
        case=arguments.case, before=_text(arguments.before), after=_text(arguments.after), author=arguments.author,
        reviewer=arguments.approver, reason=arguments.reason, at=now, key=_key(arguments),
    )  # fmt: skip
    checked(made, book.people, now=now, subject=made.subject)
    _kept(arguments, book, made, now)
    return 0


def _kept(arguments: argparse.Namespace, book: Book, made: Approval, now: datetime) -> None:
    book.add("approval", made.to_dict(), at=now)
    _show(arguments, made.to_dict(), f"{made}\n  {made.guarantee}")


def _keep(arguments: argparse.Namespace) -> int:
    from plumbline.decide.approvals import approve, keep_artifact
    from plumbline.decide.evidence import digest_of

    now, book, content = _now(arguments), _book(arguments), _text(arguments.file)
    made = approve(
        kind=arguments.kind, subject=digest_of(content), author=arguments.author, approver=arguments.approver,
        role=arguments.role, reason=arguments.reason, at=now, about=arguments.name, key=_key(arguments),
    )  # fmt: skip
    record = keep_artifact(book, kind=arguments.kind, name=arguments.name, content=content, approval=made, now=now)
    body = record.body
    _show(arguments, body, f"{made}\n{body['kind']} {body['name']} version {body['version']}: {body['digest']}")
    return 0


def _waive(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ApprovalError
    from plumbline.decide.approvals import case_digest, read_waivers
    from plumbline.decide.approvals.waiving import waive
    from plumbline.run import read_run

    now, book = _now(arguments), _book(arguments)
    bands = book.in_force(now)
    if bands is None:
        raise ApprovalError("not_in_force", f"no bands are in force in {book.folder}", "plumbline bands approve FILE …")
    run = read_run(arguments.baseline)
    arm = _arm(arguments.arm, run)
    file = book.folder / "waivers.yaml"
    given = now.date()
    made = waive(
        file, book.people, now=now,
        wanted=given + timedelta(days=_DAYS) if arguments.expires is None else _day(arguments.expires),
        exact=arguments.expires is not None,
        values={
            "fixture": arguments.fixture, "field": arguments.field, "measured": _measured(arguments),
            "bands": bands.digest, "version": bands.version, "case": case_digest(run, arguments.fixture, arm=arm),
            "reason": arguments.reason, "link": arguments.link, "author": arguments.author,
            "approver": arguments.approver, "given": given, "scope": arguments.scope,
            "evidence": _evidence(arguments.evidence),
        },
        key=_key(arguments),
    )  # fmt: skip
    read_waivers(file, today=given)
    _show(arguments, made.model_dump(mode="json"), f"{made}\nwritten to {file}; it stays a failure and shows as one")
    return 0


def _arm(name: str | None, run: Any) -> str:
    from plumbline.base.errors import ParameterError

    if name is None and len(run.arms) == 1:
        return str(run.arms[0])
    if name not in run.arms:
        raise ParameterError(f"--arm {name}: run {run.run_id!r} has {', '.join(run.arms)}; name one")
    return str(name)


def _day(text: str) -> date:
    from plumbline.decide.approvals.clock import moment_of

    return moment_of(text, "--expires").date()


def _measured(arguments: argparse.Namespace) -> float | str:
    from plumbline.base.errors import InputError, NotFoundError, ParameterError
    from plumbline.decide.approvals import measured_of

    if (arguments.measured is None) == (arguments.report is None):
        raise ParameterError("give --measured VALUE or --report FILE, one of the two")
    if arguments.measured is not None:
        return _number(arguments.measured)
    try:
        rows = json.loads(_text(arguments.report))["moved"]
        mine = [argparse.Namespace(**row) for row in rows if (row["fixture"], row["field"]) == _named(arguments)]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{arguments.report} is not what `plumbline bands check --json` prints") from None
    if not mine or mine[0].verdict not in ("fail", "waived"):
        raise NotFoundError(f"{arguments.report}: {' '.join(_named(arguments))} does not fail; waive what fails")
    return measured_of(mine[0])


def _named(arguments: argparse.Namespace) -> tuple[str, str]:
    return arguments.fixture, arguments.field


def _number(text: str) -> float | str:
    try:
        return float(text.removesuffix("x"))
    except ValueError:
        return text


def _evidence(given: list[str]) -> dict[str, str]:
    import hashlib

    from plumbline.base.errors import NotFoundError, ParameterError

    found = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not name or name in found:
            raise ParameterError(f"--evidence {text!r}: write NAME=FILE, each name once")
        if not Path(file).is_file():
            raise NotFoundError(f"--evidence {name}: there is no file {file}")
        found[name] = "sha256:" + hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return found


def _review(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.decide.approvals import done, read_waivers, review

    now, book = _now(arguments), _book(arguments)
    if arguments.done:
        if not arguments.approver:
            raise ParameterError("--done needs --as NAME: who held the review")
        done(book, arguments.done, by=arguments.approver, note=arguments.note, now=now)
    found = review(book, read_waivers(book.folder / "waivers.yaml", today=now.date()), now=now)
    _show(arguments, [vars(one) for one in found.due], str(found))
    return 0


def _log(arguments: argparse.Namespace) -> int:
    from plumbline.decide.approvals import book_log

    frame = book_log(_book(arguments))
    rows = frame.to_dict("records")
    text = "\n".join(f"{row['at'][:16]}  {row['kind']:<9} {row['what']}" for row in rows)
    _show(arguments, rows, text or "the book holds no record yet")
    return 0


def _at(arguments: argparse.Namespace) -> int:
    from plumbline.decide.approvals import at_moment
    from plumbline.decide.approvals.clock import moment_of

    found = at_moment(_book(arguments), moment_of(arguments.date, "DATE"), request=arguments.request)
    _show(arguments, vars(found), str(found))
    return 0
