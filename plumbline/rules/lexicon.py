"""Words that change what is asked: negation, modality, urgency, scope, order, alternatives, and what is to be done.

English only. Each class holds words that can stand for one another; a text is counted class by class, the longest
phrase first, so that ``no more than`` is a limit and not a negation. What is no word of a class has no effect: the
lists are closed and general, and they are all that the guard knows of language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

__all__ = [
    "ACTIONS",
    "CLASSES",
    "FAMILIES",
    "NUMBER",
    "actions_in",
    "classes_in",
    "content_words",
    "negated_words",
    "opposites",
    "stem",
    "words",
]

NUMBER = "\x01"
"""What stands, once the facts of a text are blanked out, in the place of a number."""

_OR = "|"


def words(text: str) -> list[str]:
    """Return the words of a list that is written as one text."""
    return text.split()


CLASSES: dict[str, tuple[str, str]] = {
    "not": ("negation", "not|no|never|none|nothing|nobody|no one|neither|nor|nowhere|without|avoid|refrain|fail to"),
    "must": (
        "modality",
        "must|have to|has to|had to|having to|need to|needs to|shall|required|require|requires|requirement|obliged"
        "|mandatory|compulsory|necessary|obligatory|essential",
    ),
    "should": ("modality", "should|ought to|had better|advisable|recommended|preferably|ideally|better to"),
    "may": (
        "modality",
        "may|might|can|could|allowed|permitted|able to|optional|optionally|possible|possibly|perhaps|maybe"
        "|free to|if you like|if you wish|if possible|where possible|if you want",
    ),
    "urgent": (
        "urgency",
        "urgent|urgently|urgency|immediately|immediate|at once|right away|right now|straight away|asap"
        "|as soon as possible|now|quick|quickly|hurry|rush|fast|promptly|without delay|top priority"
        "|high priority|instantly|swiftly"
        "|as quickly as possible|as fast as possible|without waiting",
    ),
    "unhurried": (
        "urgency",
        "no rush|no hurry|not urgent|when convenient|whenever convenient|take your time|in due course|low priority"
        "|at your convenience|when you have time|when you get a chance|at some point|eventually|later|sometime",
    ),
    "all": ("scope", "all|every|each|entire|whole|everything|everyone|everybody|every one|complete|full|both|entirety"),
    "any": ("scope", "any|anything|anyone|anybody|whichever|whatever"),
    "some": ("scope", "some|several|a few|certain|part of|a couple of|something|someone"),
    "many": ("scope", "many|most|majority|much of|the bulk of"),
    "only": (
        "scope",
        "only|just|solely|exclusively|alone|nothing but|merely|purely|nothing else|no other|nothing other than",
    ),
    "except": (
        "scope",
        "except|except for|excluding|apart from|other than|with the exception of|aside from|save for"
        "|leaving out|barring|besides",
    ),
    "at least": (
        "scope",
        "at least|no less than|not less than|no fewer than|or more|minimum|a minimum of|or above|or later",
    ),
    "at most": (
        "scope",
        "at most|no more than|not more than|up to|maximum|a maximum of|or less|or fewer|or below|no later than"
        "|not exceed|not exceeding|at the latest|at the most|max|cap|capped",
    ),
    "more than": (
        "scope",
        "more than|exceeding|exceeds|exceed|greater than|higher than|larger than|older than"
        "|later than|longer than",
    ),
    "less than": (
        "scope",
        "less than|fewer than|lower than|smaller than|newer than"
        "|younger than|earlier than|shorter than",
    ),
    "exactly": ("scope", "exactly|precisely|exact"),
    "roughly": ("scope", "approximately|roughly|circa|nearly|almost|approx|or so|approximate"),
    "last": ("scope", "last|latest|most recent|newest"),
    "oldest": ("scope", "oldest|earliest"),
    "next": ("scope", "next|upcoming"),
    "before": ("order", "before|prior to|ahead of|beforehand|by the time|in advance"),
    "until": ("order", "until|till|not until"),
    "after": ("order", "after|once|as soon as"),
    "then": ("order", "then|afterwards|afterward|subsequently|after that|next step"),
    "if": ("order", "if|provided|providing|assuming|in case|as long as|so long as|in the event"),
    "only if": ("order", "only if|only when|only once|only after|if and only if"),
    "unless": ("order", "unless|if not|except if|except when"),
    "or": ("order", "or|or else|either or"),
    "instead": ("order", "instead|instead of|rather than|in place of"),
}  # fmt: skip
"""Class to its family and its phrases."""

FAMILIES = ("negation", "modality", "urgency", "scope", "order")

BEFORE_A_NUMBER = {
    "over": "more than", "above": "more than", "beyond": "more than", "under": "less than", "below": "less than",
    "about": "roughly", "around": "roughly", "within": "at most",
}  # fmt: skip
"""Prepositions that set a limit when a number follows, and have other work elsewhere."""

ACTIONS: dict[str, str] = {
    "pay": "pay pays paid paying payment payments settle settles settled settlement remit remitted remittance",
    "refund": "refund refunds refunded refunding reimburse reimburses reimbursed reimbursement",
    "approve": "approve approves approved approving approval approvals authorise authorised authorize authorized "
    "authorisation authorization endorse endorsed",
    "reject": "reject rejects rejected rejecting rejection decline declines declined declining deny denies denied "
    "denying refuse refuses refused refusing",
    "cancel": "cancel cancels cancelled canceled cancelling canceling cancellation revoke revokes revoked revoking "
    "void voided annul annulled",
    "delete": "delete deletes deleted deleting deletion erase erases erased erasing purge purges purged purging wipe "
    "wiped wiping remove removes removed removing removal drop drops dropped dropping",
    "create": "create creates created creating creation",
    "add": "add adds added adding addition",
    "hold": "hold holds held holding suspend suspends suspended suspending freeze frozen freezing block blocks blocked "
    "blocking pause paused pausing",
    "release": "release releases released releasing unblock unblocked unfreeze reinstate reinstated resume resumed",
    "increase": "increase increases increased increasing raise raises raised raising",
    "decrease": "decrease decreases decreased decreasing reduce reduces reduced reducing lower lowers lowered "
    "lowering cut",
    "grant": "grant grants granted granting",
    "close": "close closes closed closing closure",
    "open": "open opens opened opening reopen reopened reopening",
    "enable": "enable enables enabled enabling activate activates activated activating",
    "disable": "disable disables disabled disabling deactivate deactivates deactivated deactivating",
    "buy": "buy buys bought buying purchase purchases purchased purchasing",
    "sell": "sell sells sold selling",
    "merge": "merge merges merged merging",
    "revert": "revert reverts reverted reverting undo undone",
    "publish": "publish publishes published publishing",
    "start": "start starts started starting begin begins began beginning launch launched",
    "stop": "stop stops stopped stopping halt halts halted halting terminate terminated terminating",
    "include": "include includes included including inclusion",
    "exclude": "exclude excludes excluded exclusion omit omits omitted omitting",
    "accept": "accept accepts accepted accepting acceptance",
    "escalate": "escalate escalates escalated escalating escalation",
    "encrypt": "encrypt encrypts encrypted encrypting encryption",
    "deploy": "deploy deploys deployed deploying deployment",
    "renew": "renew renews renewed renewing renewal extend extends extended extending extension prolong",
    "replace": "replace replaces replaced replacing replacement exchange exchanged swap swapped swapping",
    "skip": "skip skips skipped skipping bypass bypassed bypassing ignore ignores ignored ignoring disregard "
    "disregarded "
    "overlook overlooked",
}
"""What an agent may do that cannot be taken for something else: class to the forms of its words."""

_ACTION_OF = {form: name for name, forms in ACTIONS.items() for form in words(forms)}
_CLASS_OF = {phrase: name for name, (_, phrases) in CLASSES.items() for phrase in phrases.split(_OR)}
_PHRASE = re.compile(
    r"\b(?:" + _OR.join(re.escape(p).replace(r"\ ", r"\s+") for p in sorted(_CLASS_OF, key=len, reverse=True)) + r")\b"
)
_CONTRACTIONS = (
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
)
_INVERTED = re.compile(r"((?:^|[.;!?])\s*)should\s+(?!i\b|we\b|you\b)")
_NEGATED = re.compile(r"\b(?:not|no|never|without|avoid|refrain from)\b((?:[ \t]+\w+){1,6})")
_PREFIXES = ("un", "dis", "non", "in", "im", "ir", "il", "mis")
_POLITE = re.compile(
    r"\b(?:can|could|would|will|may|might) (?:you|i|we)(?: please| kindly)?(?: be able to)?\b(?! not)"
    r"|\bi(?:'d| would)? (?:need|want|like) you to\b|\bwould you mind\b|\bif you (?:could|would|can)\b"
)
_STOP = frozenset(
    words(
        "a an and are as at be been by do does did done for from had has have he her his i in into is it its me my of "
        "on our ours please she so that the their them there these they this those to us was we were what when where "
        "which who will with would you your yours up out off am being but how if let no not or than then too very can "
        "could just kindly need want like get got make see use"
    )
)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_LIMIT = re.compile(rf"\b({_OR.join(BEFORE_A_NUMBER)})\s+(?:the\s+|an?\s+)?{NUMBER}")


def _prepared(text: str) -> str:
    for pattern, spelled in _CONTRACTIONS:
        text = re.sub(pattern, spelled, text)
    return _POLITE.sub(" ", _INVERTED.sub(r"\1if ", text))


@lru_cache(maxsize=4096)
def classes_in(text: str) -> Counter[str]:
    """Count the classes of a text in lower case whose facts are blanked out.

    A request in the form of a question (``could you``) is a courtesy and counts as nothing.

    Examples
    --------
    >>> dict(classes_in("you must not pay more than that, and no more than once"))
    {'must': 1, 'not': 1, 'more than': 1, 'at most': 1, 'after': 1}
    """
    plain = _prepared(text)
    found = Counter(_CLASS_OF[" ".join(match[0].split())] for match in _PHRASE.finditer(plain))
    return found + Counter(BEFORE_A_NUMBER[match[1]] for match in _LIMIT.finditer(plain))


def actions_in(text: str) -> set[str]:
    """Return the classes of action that a text in lower case speaks of.

    Examples
    --------
    >>> sorted(actions_in("settle the invoice, or have it rejected"))
    ['pay', 'reject']
    """
    return {_ACTION_OF[word] for word in _WORD.findall(text) if word in _ACTION_OF}


def negated_words(text: str) -> set[str]:
    """Return the stems of the content words among the six words after each negation, up to a stop.

    Examples
    --------
    >>> sorted(negated_words("do not cancel the order, but refund it"))
    ['cancel', 'order']
    """
    found: set[str] = set()
    for match in _NEGATED.finditer(_prepared(text)):
        found |= content_words(match[1])
    return found


def opposites(first: Iterable[str], second: Iterable[str]) -> set[tuple[str, str]]:
    """Return the pairs of words, one of each side, of which one is the other with a negating prefix.

    Examples
    --------
    >>> opposites({"agree"}, {"disagree"})
    {('agree', 'disagree')}
    """
    left, right = ({word for word in side if len(word) > 2} for side in (first, second))
    found = {(word, prefix + word) for word in left for prefix in _PREFIXES if prefix + word in right}
    return found | {(prefix + word, word) for word in right for prefix in _PREFIXES if prefix + word in left}


def stem(word: str) -> str:
    """Return a word in lower case without its commonest endings; crude, and the same for both sides of a comparison.

    Examples
    --------
    >>> stem("approvals") == stem("approval"), stem("invoices") == stem("invoice")
    (True, True)
    """
    word = word.lower().removesuffix("'s")
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that carry content: no articles, pronouns, auxiliaries or courtesies.

    Examples
    --------
    >>> sorted(content_words("Please process the invoice for me"))
    ['invoic', 'proces']
    """
    words = (word for word in _WORD.findall(text.lower()) if word not in _STOP and len(word) > 2)
    return frozenset(stem(word) for word in words)
