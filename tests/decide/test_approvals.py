"""Who may change a band: directions per field, roles, signatures bound to content, and what held at a date."""

from __future__ import annotations

import doctest
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plumbline.decide.approvals.changes as changes_module
from plumbline.base.errors import ApprovalError, BandError, CannotTellError, DigestError, NotFoundError, ParameterError
from plumbline.decide.approvals import (
    approve,
    artifact_notes,
    at_moment,
    book_log,
    changes_to_approve,
    checked,
    keep_artifact,
    read_key,
    read_people,
    rebaseline,
    record_decision,
    sign,
    unknown_artifacts,
    verify_signature,
)
from plumbline.decide.evidence import digest_of
from plumbline.traces import Recording
from tests.decide.governing import KEYS, NOW, approval, book_in, people_text, private, public, started, version

LOOSER_LATENCY = ("at_most: 1.5x", "at_most: 2x")
TIGHTER_TEXT = ("pass: {at_least: 0.92}", "pass: {at_least: 0.95}")
LOOSER_TEXT = ("pass: {at_least: 0.92}", "pass: {at_least: 0.9}")


def test_examples_run():
    assert doctest.testmod(changes_module).failed == 0


@pytest.mark.parametrize(
    ("edits", "said", "roles"),
    [
        ([TIGHTER_TEXT], ["tighter: text pass.at_least: 0.92 -> 0.95 (needs the agent owner)"], ("agent_owner",)),
        ([LOOSER_TEXT], ["looser: text pass.at_least: 0.92 -> 0.9 (needs a reviewer)"], ("reviewer",)),
        (
            [LOOSER_LATENCY],
            ["looser: latency pass.at_most: 1.5x -> 2x (needs the platform owner)"],
            ("platform_owner",),
        ),
        (
            [("at_least: 0.7x", "at_least: 0.6x")],
            ["looser: tokens pass.at_least: 0.7x -> 0.6x (needs the platform owner)",
             "looser: tokens warn.at_least: 0.7x -> 0.6x (needs the platform owner)"],
            ("platform_owner",),
        ),
        (
            [("pass: same_unless_idempotent", "pass: same")],
            ["tighter: order pass: same_unless_idempotent -> same (needs the agent owner)"],
            ("agent_owner",),
        ),
        ([LOOSER_LATENCY, TIGHTER_TEXT], None, ("platform_owner",)),
        ([LOOSER_LATENCY, LOOSER_TEXT], None, ("platform_owner", "reviewer")),
        ([("owner: agent-team", "owner: other-team")], None, ("platform_owner",)),
        ([("A reviewer should not see a difference", "No reviewer should see a difference")], [], ("agent_owner",)),
    ],
)  # fmt: skip
def test_tighter_and_looser_are_computed_and_name_who_must_approve(edits, said, roles):
    found = changes_to_approve(version(), version(2, *edits))
    if said is not None:
        assert [str(one) for one in found.changes] == said
    assert found.roles == roles


def test_a_mixed_change_is_split():
    found = changes_to_approve(version(), version(2, ("[decision, amount, summary]", "[decision, amount, memo]")))
    assert [(one.way, one.after, one.role) for one in found.changes if one.name == "pass.required"] == [
        ("tighter", "gained memo", "agent_owner"), ("looser", "lost summary", "reviewer"),
    ]  # fmt: skip
    assert found.tighter
    assert found.looser
    assert found.to_frame()["way"].tolist() == [one.way for one in found.changes]


def test_a_rule_that_comes_or_goes_is_one_change():
    text = version().text
    start, end = text.index("  tool_set:"), text.index("  latency:")
    without = version(2, (text[start:end], ""))
    assert [str(one) for one in changes_to_approve(version(), without).changes] == [
        "looser: tool_set ruled: ruled -> not ruled (needs the platform owner)"
    ]
    assert [one.way for one in changes_to_approve(without, version(3)).changes] == ["tighter"]


@given(st.floats(0.86, 0.99), st.floats(0.86, 0.99))
def test_a_change_and_its_way_back_go_opposite_ways(one, two):
    first, second = (version(1, ("pass: {at_least: 0.92}", f"pass: {{at_least: {x:.4f}}}")) for x in (one, two))
    there, back = changes_to_approve(first, second), changes_to_approve(second, first)
    opposite = {"tighter": "looser", "looser": "tighter"}
    assert [opposite[change.way] for change in there.changes] == [change.way for change in back.changes]
    assert bool(there.changes) == (first.digest != second.digest)


def test_the_agent_owner_tightens_alone_and_loosens_nothing_alone(tmp_path):
    book = started(tmp_path)
    tight = version(2, TIGHTER_TEXT)
    book.adopt(tight, author="ana", now=NOW, approvals=[approval(tight, "ana")])
    loose = version(3, TIGHTER_TEXT, LOOSER_LATENCY)
    with pytest.raises(ApprovalError, match="self approved: the approval by ana") as refused:
        book.adopt(loose, author="ana", now=NOW, approvals=[approval(loose, "ana")])
    assert refused.value.refusal == "self_approved"
    with pytest.raises(ApprovalError, match="lacks platform_owner") as refused:
        book.adopt(loose, author="ana", now=NOW, approvals=[approval(loose, "otto")])
    assert refused.value.refusal == "missing_approval"
    assert "latency pass.at_most: 1.5x -> 2x" in str(refused.value)
    assert "plumbline bands approve FILE" in str(refused.value)
    assert book.in_force(NOW).version == 2, "what was refused left nothing behind"
    book.adopt(loose, author="ana", now=NOW + timedelta(hours=1), approvals=[approval(loose, "pat")])
    assert book.in_force(NOW + timedelta(days=1)).version == 3


def test_the_platform_owner_may_not_loosen_a_band_of_their_own(tmp_path):
    book = started(tmp_path)
    loose = version(2, LOOSER_LATENCY)
    with pytest.raises(ApprovalError, match="self approved"):
        book.adopt(loose, author="pat", now=NOW, approvals=[approval(loose, "pat", author="pat")])


def test_two_roles_may_approve_one_after_the_other(tmp_path):
    book = started(tmp_path)
    loose = version(2, LOOSER_LATENCY, LOOSER_TEXT)
    book.add("approval", approval(loose, "rita").to_dict(), at=NOW)
    with pytest.raises(ApprovalError, match="lacks platform_owner"):
        book.adopt(loose, author="ana", now=NOW)
    book.adopt(loose, author="ana", now=NOW, approvals=[approval(loose, "pat")])
    assert {one.approver for one in book.approvals(loose.digest)} == {"rita", "pat"}


@pytest.mark.parametrize(
    ("change", "refusal", "said"),
    [
        ({"subject": version(5).digest}, "other_content", "an approval never moves to another one"),
        ({"role": "platform_owner"}, "wrong_role", "rita is reviewer, not platform_owner; ask pat"),
        ({"at": NOW + timedelta(days=1)}, "future_date", "lies in the future; approve it with today's date"),
        ({"approver": "nobody"}, "unknown_person", "'nobody' is not among the people (ana, pat, rita, otto)"),
        ({"sign": False}, "unsigned", "carries no signature; approve with --key"),
        ({"author": "rita"}, "self_approved", "is of their own change; ask somebody else"),
    ],
)
def test_an_approval_that_does_not_count_is_refused_by_name(tmp_path, change, refusal, said):
    book, bands = book_in(tmp_path), version(2)
    given = dict(change)
    approver = given.pop("approver", "rita")
    made = approval(bands, "rita", **given)
    with pytest.raises(ApprovalError) as refused:
        checked(replace(made, approver=approver), book.people, now=NOW, subject=bands.digest)
    assert refused.value.refusal == refusal
    assert said in str(refused.value)


@pytest.mark.parametrize("field", ["subject", "before", "author", "reason", "at", "about", "kind"])
def test_a_signature_is_bound_to_every_word(tmp_path, field):
    book, bands = book_in(tmp_path), version(2)
    made = approval(bands, "rita")
    assert checked(made, book.people, now=NOW, subject=bands.digest) == made
    values = {"subject": digest_of("x"), "before": digest_of("y"), "at": "2026-08-31T00:00:00+00:00", "kind": "prompt"}
    forged = replace(made, **{field: values.get(field, "otto")})
    with pytest.raises(ApprovalError, match="bad signature"):
        checked(forged, book.people, now=NOW, subject=forged.subject)


def test_git_identity_is_named_as_the_weaker_guarantee(tmp_path):
    book, bands = book_in(tmp_path, "git"), version(2)
    made = approval(bands, "rita", sign=False)
    assert checked(made, book.people, now=NOW, subject=bands.digest) == made
    assert made.guarantee == "git identity only: the name is what a commit carries, and proves nothing by itself"


def test_signatures_are_those_of_ssh_keygen(tmp_path):
    message = b"one message"
    signature = sign(message, KEYS["pat"])
    assert verify_signature(message, signature, public("pat"))
    assert not verify_signature(message + b".", signature, public("pat"))
    assert not verify_signature(message, signature, public("ana"))
    assert not verify_signature(message, "no signature", public("pat"))
    assert not verify_signature(message, signature, "no key")
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen here; the format was not compared with it")
    (tmp_path / "signers").write_text(f"pat {public('pat')}\n")
    (tmp_path / "m.sig").write_text(signature)
    verify = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "pat", "-n", "plumbline", "-s", "m.sig"]
    assert subprocess.run(verify, cwd=tmp_path, input=message, capture_output=True, check=False).returncode == 0
    key = private("pat", tmp_path)
    key.chmod(0o600)
    (tmp_path / "m").write_bytes(message)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", "plumbline", "m"], cwd=tmp_path, capture_output=True, check=True
    )
    assert verify_signature(message, (tmp_path / "m.sig").read_text(), public("pat"))
    assert read_key(key).public_key() == KEYS["pat"].public_key()


def test_keys_that_cannot_sign_say_so(tmp_path):
    with pytest.raises(NotFoundError, match="ssh-keygen -t ed25519"):
        read_key(tmp_path / "none")
    (tmp_path / "k").write_text("nothing")
    with pytest.raises(ApprovalError, match="no private key that can be read"):
        read_key(tmp_path / "k")


def test_a_text_case_gets_a_new_baseline_from_someone_who_saw_both(tmp_path):
    book = book_in(tmp_path)
    made = rebaseline(case="INV-1", before="old text", after="new text", author="ana", reviewer="rita",
                      reason="the greeting changed on purpose", at=NOW, key=KEYS["rita"])  # fmt: skip
    assert (made.before, made.subject, made.role) == (digest_of("old text"), digest_of("new text"), "reviewer")
    checked(made, book.people, now=NOW, subject=digest_of("new text"))
    with pytest.raises(ApprovalError, match="there is nothing to re-baseline"):
        rebaseline(case="c", before="a", after="a", author="ana", reviewer="rita", reason="long enough", at=NOW)
    for reason in ("", "two\nlines of reason", "short"):
        with pytest.raises(ApprovalError, match="write one line that a stranger understands"):
            rebaseline(case="c", before="a", after="b", author="ana", reviewer="rita", reason=reason, at=NOW)
    with pytest.raises(ApprovalError, match="wrong role"):
        checked(replace(made, approver="pat"), book.people, now=NOW, subject=made.subject)


def test_which_rule_held_is_answered_years_later(tmp_path):
    book = started(tmp_path)
    second = version(2, TIGHTER_TEXT, in_force="2026-10-01")
    book.adopt(second, author="ana", now=NOW + timedelta(days=1), approvals=[approval(second, "ana")])
    assert book.in_force(date(2026, 8, 1)) is None
    assert book.in_force(date(2026, 9, 30)).version == 1, "approved and not yet in force"
    assert book.in_force(date(2029, 1, 1)).version == 2
    first = book.in_force(date(2026, 9, 15))
    asked = {"bands": first.digest, "baseline": "sha256:a", "candidate": "sha256:b", "fixtures": 300}
    record = record_decision(book, request=asked, decision="hold", now=datetime(2026, 9, 15, 9, tzinfo=UTC))
    found = at_moment(book, date(2029, 1, 1), request=record.body["request"][:20])
    assert (found.version, found.decision["decision"]) == (1, "hold")
    assert "decision hold on request sha256:" in str(found)
    assert "SSH signature by the approver's key" in str(found)
    assert at_moment(book, date(2029, 1, 1)).version == 2
    assert "no bands were in force" in str(at_moment(book, date(2020, 1, 1)))
    with pytest.raises(CannotTellError, match="0 decisions on a request"):
        at_moment(book, date(2029, 1, 1), request="sha256:ffff")
    with pytest.raises(ApprovalError, match="not in force"):
        record_decision(book, request={**asked, "bands": second.digest}, decision="ship", now=NOW + timedelta(days=3))
    log = book_log(book)
    assert log["kind"].tolist().count("version") == 2
    assert "tighter: text pass.at_least: 0.92 -> 0.95" in " ".join(log["what"])


def test_saved_versions_and_records_cannot_be_changed_unseen(tmp_path):
    book = started(tmp_path)
    digest = book.in_force(NOW).digest
    kept = next((book.folder / "versions").glob("*.yaml"))
    before = kept.read_text()
    assert before == version().text, "comments are kept"
    kept.write_text(before.replace("1.5x", "2.5x"))
    with pytest.raises(DigestError, match="was changed after it was saved; restore it"):
        book.bands_of(digest)
    kept.write_text(before)
    record = next((book.folder / "records").glob("*approval*"))
    record.write_text(record.read_text().replace("platform meeting", "corridor"))
    with pytest.raises(DigestError, match="was changed after it was written"):
        book.records()


def test_versions_count_up_and_their_dates_are_not_of_tomorrow(tmp_path):
    book = started(tmp_path)
    with pytest.raises(ApprovalError, match="the file says version 3, the book stands at 1; write version: 2"):
        book.adopt(version(3, TIGHTER_TEXT), author="ana", now=NOW)
    with pytest.raises(ApprovalError, match="this is version 1 itself"):
        book.adopt(version(), author="ana", now=NOW)
    late = version(2, ("created: 2026-08-01", "created: 2026-12-01"))
    with pytest.raises(ApprovalError, match="future date: version 2 was created 2026-12-01, after 2026-09-01"):
        book.adopt(late, author="ana", now=NOW)


def test_prompts_and_tools_are_kept_like_bands(tmp_path):
    book, content = book_in(tmp_path), "You pay invoices."
    given = {"kind": "prompt", "author": "ana", "role": "reviewer", "reason": "first prompt of the agent", "at": NOW}
    made = approve(subject=digest_of(content), approver="rita", about="system", key=KEYS["rita"], **given)
    record = keep_artifact(book, kind="prompt", name="system", content=content, approval=made, now=NOW)
    assert (record.body["version"], record.body["digest"]) == (1, digest_of(content))
    notes = artifact_notes(book, NOW)
    assert notes == {"artifacts": {"prompt system": digest_of(content)}}
    trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    assert unknown_artifacts(Recording(trials, run_id="r", notes=notes), book) == ()
    strange = Recording(trials, run_id="r", notes={"artifacts": {"prompt system": digest_of("else")}})
    assert "is no kept version" in unknown_artifacts(strange, book)[0]
    with pytest.raises(CannotTellError, match="record them: notes=artifact_notes"):
        unknown_artifacts(Recording(trials, run_id="r"), book)
    with pytest.raises(ApprovalError, match="nothing to keep"):
        keep_artifact(book, kind="prompt", name="system", content=content, approval=made, now=NOW)
    with pytest.raises(ApprovalError, match="other content"):
        keep_artifact(book, kind="prompt", name="system", content="You pay nothing.", approval=made, now=NOW)
    assert at_moment(book, NOW).artifacts == notes["artifacts"]


def test_people_are_read_with_lines(tmp_path):
    file = tmp_path / "people.yaml"
    file.write_text(people_text().replace("roles: [reviewer]", "roles: [reader]"))
    with pytest.raises(BandError, match=r"people\.yaml, line 11, people\.rita\.roles"):
        read_people(file)
    file.write_text(people_text().replace("identity:", "identify:"))
    with pytest.raises(BandError, match="line 2, identify: the key 'identify' is not known; write 'identity'"):
        read_people(file)


def test_times_need_a_zone(tmp_path):
    with pytest.raises(ParameterError, match="without a zone"):
        book_in(tmp_path).in_force(datetime(2026, 9, 1))


def test_an_approval_is_of_a_change_and_falls_when_what_was_before_is_another(tmp_path):
    book = started(tmp_path)
    late = version(3, TIGHTER_TEXT, LOOSER_LATENCY)
    seen_from_first = approval(late, "pat", before=version().digest)
    tight = version(2, TIGHTER_TEXT)
    book.adopt(tight, author="ana", now=NOW, approvals=[approval(tight, "ana", before=version().digest)])
    with pytest.raises(ApprovalError, match="the version before is now another"):
        book.adopt(late, author="ana", now=NOW, approvals=[seen_from_first])
