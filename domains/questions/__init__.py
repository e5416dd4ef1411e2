"""Questions and sources: eight questions, answered from sources with citations or not at all. All of it is made up."""

from plumbline.domains.questions.definition import DOMAIN

__all__ = ["DOMAIN"]
