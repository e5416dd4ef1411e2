"""Policies: distinct ids, a digest of all that decides, a written form, files with line numbers."""

from __future__ import annotations

import functools
import json
from decimal import Decimal

import pytest

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import NotFoundError, PolicyError
from plumbline.rules import (
    ArgEquals,
    ArgSatisfies,
    CallAtMost,
    Context,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    When,
    read_policy,
)

FULL = Policy(
    "payments",
    [
        MustCall("check", severity="high", when="payable"),
        MustNotCall("pay", when=When("disposition", equals=["hold", 1]), id="hold"),
        Ordering("check", "pay", description="First look."),
        CallAtMost("pay", 2),
        ArgEquals("pay", "amount", from_context="total", tolerance="0.01"),
        ArgEquals("pay", "vendor", from_context="vendor", normalise="strip"),
        ArgSatisfies("pay", id="small", arg="amount", op="<=", value=Context("limit")),
        ArgSatisfies("pay", id="currency", arg="currency", op="in", value=["EUR", Decimal("1.50")], severity="low"),
    ],
    version="3",
    description="What a payment needs.",
)


def test_two_rules_with_one_id_are_refused():
    rules = [MustNotCall("pay", when="on_hold"), MustCall("check"), MustNotCall("pay", when="unknown")]
    with pytest.raises(PolicyError, match=r"rules\[0\] and rules\[2\] share the id 'must_not_call:pay'"):
        Policy("p", rules)
    assert Policy("p", [rules[0], MustNotCall("pay", id="other")]).ids == ("must_not_call:pay", "other")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Policy("p", []), "would pass everything"),
        (lambda: Policy("", [MustCall("a")]), "name"),
        (lambda: Policy("p", MustCall("a")), "list of rules"),
        (lambda: Policy("p", "must_call"), "list of rules"),
        (lambda: Policy("p", [MustCall("a"), "b"]), r"rules\[1\] is not a rule but 'b'"),
        (lambda: Policy("p", [MustCall("a")], version=2), "version"),
        (lambda: Policy("p", [MustCall("a")], description=None), "description"),
        (lambda: FULL["smal"], "Did you mean 'small'"),
    ],
)
def test_what_is_no_policy_is_refused(make, message):
    with pytest.raises(PolicyError, match=message):
        make()


def test_a_policy_is_a_collection_of_rules():
    assert len(FULL) == 8
    assert [rule.id for rule in FULL] == list(FULL.ids)
    assert FULL["hold"] is FULL.rules[1]


def test_the_written_form_reads_back_as_the_same_policy():
    written = canonical_json(FULL.to_dict())
    again = Policy.from_dict(json.loads(written, parse_float=Decimal))
    assert again == FULL
    assert again.digest == FULL.digest


@pytest.mark.parametrize(
    "other",
    [
        MustCall("check", severity="medium", when="payable"),
        MustCall("check", severity="high", when="open"),
        MustCall("check", severity="high"),
        MustCall("check", severity="high", when=When("payable")),
        MustCall("check2", severity="high", when="payable", id="must_call:check"),
    ],
)
def test_the_digest_sees_every_field(other):
    changed = Policy("payments", [other, *FULL.rules[1:]], version="3", description=FULL.description)
    assert changed.digest != FULL.digest


def limit_of(amount):
    return lambda args, context: args["amount"] <= amount


def test_the_digest_sees_the_source_and_the_closure_of_a_predicate():
    def policy(function):
        return Policy("p", [ArgSatisfies("pay", id="x", predicate=function)])

    def two_a(args, context):
        return args["amount"] <= context["limit"]

    one = policy(two_a).digest
    again = policy(two_a).digest

    def two_b(args, context):
        return args["amount"] < context["limit"]

    assert one == again
    assert policy(two_b).digest != one
    assert policy(limit_of(1)).digest == policy(limit_of(1)).digest
    assert policy(limit_of(1)).digest != policy(limit_of(2)).digest
    half = functools.partial(lambda k, args, context: args["amount"] <= k, 5)
    assert policy(half).digest == policy(half).digest
    code = compile("def f(args, context):\n    return args['amount'] <= 3", "nowhere", "exec")
    other = compile("def f(args, context):\n    return args['amount'] <= 4", "nowhere", "exec")
    spaces: list[dict] = [{}, {}]
    exec(code, spaces[0])
    exec(other, spaces[1])
    assert policy(spaces[0]["f"]).digest != policy(spaces[1]["f"]).digest


class Above:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, args, context):
        return args["amount"] > self.amount

    def method(self, args, context):
        return args["amount"] > self.amount


def test_callable_objects_and_methods_have_a_digest_too():
    digests = [
        Policy("p", [ArgSatisfies("pay", id="x", predicate=f)]).digest
        for f in (Above(1), Above(2), Above(1).method, Above(2).method)
    ]
    assert len(set(digests)) == 4
    assert Policy("p", [ArgSatisfies("pay", id="x", predicate=Above(1))]).digest == digests[0]


def test_a_function_is_written_as_its_name_and_refused_when_read():
    def payable(context):
        return True

    for rule in (ArgSatisfies("pay", id="x", predicate=limit_of(3)), MustCall("pay", when=payable)):
        written = Policy("p", [rule]).to_dict()
        json.dumps(written)
        with pytest.raises(
            PolicyError, match=r"rules\[0\]\.(predicate|when): .* is a function, which no file can hold"
        ):
            Policy.from_dict(written)
    assert written["rules"][0]["when"]["callable"].endswith("payable")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "a policy is a mapping"),
        ({"name": "p"}, "lacks 'rules'"),
        ({"name": "p", "rules": {}}, "rules must be a list"),
        ({"name": "p", "rules": [], "rule": 1}, "Did you mean 'rules'"),
        ({"name": "p", "rules": []}, "would pass everything"),
        ({"name": "p", "rules": ["must_call"]}, r"rules\[0\]: a rule is a mapping"),
        ({"name": "p", "rules": [{"rule": "must_cal"}]}, "Did you mean 'must_call'"),
        ({"name": "p", "rules": [{"rule": "must_call"}]}, r"rules\[0\]: must_call: missing .*'tool'"),
        ({"name": "p", "rules": [{"rule": "must_call", "tool": "a", "toll": 1}]}, "Did you mean 'tool'"),
        ({"name": "p", "rules": [{"rule": "must_call", "tool": "a", "when": {"is": 1}}]}, "keys key and equals"),
        ({"name": "p", "rules": [{"rule": "call_at_most", "tool": "a", "limit": "1"}]}, r"rules\[0\].*whole number"),
        ({"name": "p", "rules": [{"rule": "must_call", "tool": "a"}] * 2}, r"rules\[1\]: .* share the id"),
    ],
)
def test_from_dict_says_where_it_goes_wrong(values, message):
    with pytest.raises(PolicyError, match=message):
        Policy.from_dict(values)


YAML = """\
# What a payment needs.
name: payments
version: "3"
description: What a payment needs.
rules:
  - rule: must_call
    tool: check
    severity: high
    when: payable
  - {rule: must_not_call, tool: pay, id: hold, when: {key: disposition, equals: [hold, 1]}}
  - {rule: ordering, first: check, then: pay, description: First look.}
  - {rule: call_at_most, tool: pay, limit: 2}
  - {rule: arg_equals, tool: pay, arg: amount, from_context: total, tolerance: 0.01}
  - {rule: arg_equals, tool: pay, arg: vendor, from_context: vendor, normalise: strip}
  - {rule: arg_satisfies, id: small, tool: pay, arg: amount, op: <=, value: {context: limit}}
  - rule: arg_satisfies
    id: currency
    tool: pay
    arg: currency
    op: in
    value: [EUR, 1.50]
    severity: low
"""


def test_yaml_and_json_files_read_as_the_policy_they_spell(tmp_path):
    (tmp_path / "p.yaml").write_text(YAML)
    (tmp_path / "p.json").write_text(canonical_json(FULL.to_dict()))
    assert read_policy(tmp_path / "p.yaml") == read_policy(tmp_path / "p.json") == FULL
    assert read_policy(tmp_path / "p.yaml").digest == FULL.digest


def test_yaml_words_are_text_unless_json_knows_them(tmp_path):
    path = tmp_path / "p.yml"
    path.write_text(
        "name: no\nrules:\n- {rule: arg_satisfies, id: x, tool: on, arg: y, op: in,"
        ' value: [2026-07-01, 1:30, 010, 1e3, 0.10, true, null, "5", -3, yes, .5, 1_000]}\n'
    )
    rule = read_policy(path).rules[0]
    assert (read_policy(path).name, rule.tool, rule.arg) == ("no", "on", "y")
    assert rule.value == ("2026-07-01", "1:30", 10, Decimal(1000), Decimal("0.10"), True, None, "5", -3, "yes",
                          Decimal("0.5"), "1_000")  # fmt: skip
    assert str(rule.value[4]) == "0.10"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tool: check", "tol: check", r"p\.yaml, line 7, rules\[0\]\.tol: .*Did you mean 'tool'"),
        ("rule: must_not_call", "rule: never", r"line 10, rules\[1\]\.rule: there is no rule 'never'"),
        ("limit: 2", "limit: -2", r"line 12, rules\[3\]: call_at_most: .*-2"),
        ("severity: high", "severity: hihg", r"line 6, rules\[0\]: must_call: .*Did you mean 'high'"),
        ("severity: high", "tool: pay", "line 8: the key 'tool' stands twice"),
        ("id: hold", "id: small", r"line 15, rules\[6\]: .*share the id 'small'"),
        ("name: payments", "nam: payments", "line 2, nam: "),
        ("when: payable", "when: [payable]", r"line 6, rules\[0\]: .*when must be"),
        ("tool: check\n", "tool: &x [*x]\n", "line 7: a value contains itself"),
        ("tool: check\n", "tool: [check\n", "not YAML.*line 8"),
        ("tool: check\n", "? [a]\n    : b\n", "a key must be a word"),
    ],
)
def test_a_yaml_file_that_is_wrong_is_named_with_its_line(tmp_path, old, new, message):
    assert old in YAML
    path = tmp_path / "p.yaml"
    path.write_text(YAML.replace(old, new, 1))
    with pytest.raises(PolicyError, match=f"(?s){message}"):
        read_policy(path)


def test_files_that_are_no_policy_files(tmp_path):
    with pytest.raises(NotFoundError, match="no policy file"):
        read_policy(tmp_path / "none.yaml")
    for name, content, message in (
        ("a.yaml", b"", "empty"),
        ("a.toml", b"", "ends in .yaml"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b'{"name": "p", "name": "q"}', "stands twice"),
        ("a.yaml", b"\xff\xfe\x00", "UTF-8|YAML"),
        ("a.json", b'{"name": "p", "rules": [{"rule": "x"}]}', r"a\.json, rules\[0\]\.rule"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PolicyError, match=message):
            read_policy(tmp_path / name)
