"""Pictures of what a person sees, made by one command: ``python -m tests.shots [FOLDER]`` (Debian's chromium).

The viewer in light, dark and narrow; every study's report the same way and as paper. They are made to be looked at, and
``diff.png`` of the README is the first of them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import plumbline as plumb
from plumbline.show.diff import diff_run
from plumbline.study import list_studies, load_study, run_study
from tests.browser import page
from tests.viewer import open_viewer

ROOT = Path(__file__).resolve().parents[1]
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"width": 1000, "height": 700, "colour": "light"},
    "dark": {"width": 1000, "height": 700, "colour": "dark"},
    "narrow": {"width": 420, "height": 900, "colour": "light"},
}


def viewer(folder: Path) -> None:
    """The founding pair: one fault, an executor that holds, an agent that never met it."""
    run, domain = plumb.read_run(ROOT / "data" / "procure_to_pay" / "parity"), plumb.load_domain("procure_to_pay")
    made = diff_run(
        run, task="INV-7002", arms=("plan_execute", "react"), perturbation="tool_fault", policy=domain.policy,
        grade=domain.grade, argument_rules=domain.argument_fields,
    )  # fmt: skip
    for name, view in VIEWS.items():
        with page(**view) as (opened, wrong):
            open_viewer(opened, made, paper="#fff" if view["colour"] == "light" else "#15181c")
            opened.locator(".pl-box").focus()
            opened.screenshot(path=str(folder / f"diff-{name}.png"), full_page=name == "narrow")
            assert not wrong, wrong


def reports(folder: Path) -> None:
    """Every study's report."""
    for study in list_studies():
        with tempfile.TemporaryDirectory() as made:
            report = run_study(load_study(study), out=made).report
            for name, view in VIEWS.items():
                with page(**view) as (opened, wrong):
                    opened.goto(report.as_uri())
                    opened.screenshot(path=str(folder / f"{study}-{name}.png"), full_page=True)
                    assert not wrong, wrong
            with page(**VIEWS["light"]) as (opened, _):
                opened.goto(report.as_uri())
                opened.pdf(path=str(folder / f"{study}.pdf"), format="A4", print_background=True)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "reports/shots")
    target.mkdir(parents=True, exist_ok=True)
    viewer(target)
    reports(target)
    for picture in sorted(target.iterdir()):
        print(picture)
