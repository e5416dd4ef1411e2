"""``plumbline import FILE… --out RUN``: traces of another stack become a run, and what they cannot support is said."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "import",
        help="read traces of another stack as a run",
        description="Read trace files of any known format as one run folder, and print what they support. Bad input is "
        "refused and nothing is written.",
        allow_abbrev=False,
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="trace file (gzip is unpacked) or folder")
    command.add_argument("--out", required=True, metavar="RUN", help="run folder to write; it must not exist")
    command.add_argument("--format", default="auto", help="name of the format (default: recognised from the content)")
    for name in ("arm", "task", "family", "perturbation"):
        command.add_argument(
            f"--{name}", metavar="TEXT", help=f"{name} of every trial, or attribute:NAME to take it from the trace"
        )
    command.add_argument("--labels", metavar="CSV", help="table with trace_id or source and a column a label")
    command.add_argument("--redact", metavar="RULES", help="YAML file of what to take out before anything is stored")
    command.add_argument("--run-id", metavar="NAME", help="name of the run (default: that of the folder)")
    command.add_argument(
        "--keep-whole", action="store_true", help="of a file that is cut off or damaged, keep the trials that are whole"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_import)


def _import(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.exchange import coverage, read_traces

    out = Path(arguments.out)
    if out.exists():
        raise ParameterError(f"{arguments.out} is there already; name a folder that does not exist")
    recording = read_traces(
        arguments.files, format=arguments.format, arm=_label(arguments.arm), task=_label(arguments.task),
        family=_label(arguments.family), perturbation=_label(arguments.perturbation),
        run_id=arguments.run_id or out.name, labels=arguments.labels, redact=arguments.redact,
        strict=not arguments.keep_whole,
    )  # fmt: skip
    found = coverage(recording)
    recording.save(out)
    print(_as_json(found, recording) if arguments.json else f"{found}\n\nwritten to {arguments.out}")
    return 0


def _label(text: str | None) -> str | dict[str, str] | None:
    if text is not None and text.startswith("attribute:"):
        return {"attribute": text.removeprefix("attribute:")}
    return text


def _as_json(found: Any, recording: Any) -> str:
    import json

    frames = ("tools", "attributes", "labels", "analyses")
    body: dict[str, Any] = {"run_id": found.run_id, "trials": found.trials, "calls": found.calls}
    body |= {name: json.loads(getattr(found, name).to_json(orient="records")) for name in frames}
    body |= {"order": dict(found.order), "said": list(found.said), "unread_count": found.unread_count}
    body |= {"format": recording.notes["import"]["format"], "files": recording.notes["import"]["files"]}
    return json.dumps(body, indent=1, ensure_ascii=False)
