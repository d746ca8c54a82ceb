"""An overview as a person reads it."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .overview import OperatorOverview, Overview, StateOverview

_ARROW = {"value": "value", "map_key": "map key", "namespace": "namespace"}


def show(found: Overview) -> None:
    """Print a table of the operators and their states, then what is not resolved and what is wrong."""
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    console.print(Text(found.url, style="bold"))
    console.print(_facts(found))
    console.print()
    console.print(_table(found))
    for line in _remarks(found):
        console.print(line, soft_wrap=True)


def _facts(found: Overview) -> str:
    formats = sorted({form for operator in found.operators for form in operator.formats})
    kind = (found.type_name or found.kind or "snapshot").lower()
    with_form = f"{kind}, {found.format_type.lower()}" if found.format_type else kind
    parts = [with_form, f"keyed state as {', '.join(formats)}" if formats else "no keyed state"]
    parts += [f"metadata version {found.metadata_version}", f"checkpoint {found.checkpoint_id}"]
    return "; ".join([*parts, f"{len(found.operators)} operators", size(found.bytes)])


def _table(found: Overview) -> Table:
    table = Table(show_edge=False, header_style="bold", pad_edge=False)
    table.add_column("operator", overflow="fold", min_width=20)
    table.add_column("p / max", justify="right", no_wrap=True)
    table.add_column("state", overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("types", overflow="fold", ratio=1)
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    for operator in found.operators:
        _add(table, operator)
    return table


def _add(table: Table, operator: OperatorOverview) -> None:
    head = [_label(operator), f"{operator.parallelism} / {operator.max_parallelism}"]
    tail = size(operator.bytes) if operator.bytes else ""
    first = operator.states[0] if operator.states else None
    if first is None:
        table.add_row(*head, Text(", ".join(operator.other) or "no state", style="dim"), "", "", "", tail)
    for state in operator.states:
        lead, end = (head, tail) if state is first else (["", ""], "")
        table.add_row(*lead, Text(state.name), state.kind, _types(state), _entries(state), end)
    if operator.states and operator.other:
        table.add_row("", "", Text(", ".join(operator.other), style="dim"), "", "", "", "")
    table.add_section()


def _label(operator: OperatorOverview) -> Text:
    text = Text(operator.uid or operator.id, style="bold")
    if operator.name:
        text.append(f"\n{operator.name}", style="not bold dim")
    return text


def _types(state: StateOverview) -> Text:
    order = ("key", "namespace", "map_key", "value")
    parts = [
        f"[{state.types[name]}]" if name == "namespace" else state.types[name]
        for name in order
        if name in state.types
    ]
    return Text(" → ".join(parts))


def _entries(state: StateOverview) -> str:
    if state.entries is None:
        return "–"
    return f"{'~' if state.estimated else ''}{state.entries:,}"


def _remarks(found: Overview) -> list[Text]:
    lines: list[Text] = []
    for operator in found.operators:
        for state in operator.states:
            if state.opaque:
                lines.append(
                    Text(
                        f"not decoded, carried as bytes: {state.name} of {operator.uid or operator.id} ({state.opaque})"
                    )
                )
    lines += [
        Text(f"unresolved: {operator.id}, {_has(operator)}")
        for operator in found.operators
        if operator.id in found.unresolved
    ]
    if found.unresolved:
        lines.append(
            Text("uids are hashed here: name those of the job with --uid or --uids FILE", style="dim")
        )
    lines += [Text(f"not in the snapshot: {uid}") for uid in found.not_in_snapshot]
    every = [state for operator in found.operators for state in operator.states]
    if any(state.entries is None or state.estimated for state in every) and not found.problems:
        lines.append(Text("entries were not counted: --count reads the states for it", style="dim"))
    lines += [Text(f"not readable: {problem}", style="red") for problem in found.problems]
    return [Text(""), *lines] if lines else []


def _has(operator: OperatorOverview) -> str:
    """``1 keyed state "count"``: what an operator without a known uid can be told by."""
    operator_kinds = ("split", "union", "broadcast")
    groups = {
        "keyed state": [s.name for s in operator.states if s.kind not in (*operator_kinds, "timer")],
        "timer state": [s.name for s in operator.states if s.kind == "timer"],
        "operator state": [s.name for s in operator.states if s.kind in operator_kinds],
    }
    texts = [
        f"{len(names)} {kind}{'s' if len(names) != 1 else ''} " + ", ".join(f'"{name}"' for name in names)
        for kind, names in groups.items()
        if names
    ]
    return "; ".join(texts) or "no state"


def size(nbytes: int) -> str:
    """Bytes for people: ``512 B``, ``1.5 MiB``."""
    if nbytes < 1024:
        return f"{nbytes} B"
    value = float(nbytes)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"
