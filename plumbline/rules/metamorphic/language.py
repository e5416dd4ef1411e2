"""In which language a text is written, told by a library and not by a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

__all__ = ["language_of"]

_SURE = 0.8
_SHORTEST = 12


def language_of(text: str, languages: Sequence[str] = ()) -> tuple[str | None, str]:
    """Return the language of a text, and why it cannot be told (empty if it can).

    Parameters
    ----------
    text : str
        At least twelve letters.
    languages : sequence of str
        Two-letter codes that come into question; all that the library knows by default.

    Returns
    -------
    tuple
        ``("de", "")``, or ``(None, reason)``.
    """
    try:
        identifier = _identifier(tuple(languages))
    except ImportError:
        return None, "no language detection is installed: pip install 'plumbline-studies[language]'"
    if sum(letter.isalpha() for letter in text) < _SHORTEST:
        return None, f"a text of fewer than {_SHORTEST} letters has no language that can be told"
    found, share = identifier.classify(text)
    if float(share) < _SURE:
        return None, f"the text is {found} with a probability of only {float(share):.2f}"
    return str(found), ""


@lru_cache(maxsize=8)
def _identifier(languages: tuple[str, ...]) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if languages:
        identifier.set_languages(list(languages))
    return identifier
