"""What a snapshot holds, as a person reads it."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..state_ops.inventory import OperatorInventory, StateInventory
from .overview import Overview


def show(found: Overview) -> None:
    """Print the operators and their states, then what is not resolved and what is wrong."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(Text(found.url, style="bold"), soft_wrap=True)
    console.print(_facts(found), soft_wrap=True)
    with_state = [operator for operator in found.operators if _is_shown(operator)]
    widths = (
        max((len(s.name) for o in with_state for s in o.states), default=0),
        max((len(_entries(s)) for o in with_state for s in o.states), default=0),
    )
    for operator in with_state:
        console.print()
        console.print(_head(operator), soft_wrap=True)
        console.print(_states(operator, *widths))
    for line in _remarks(found):
        console.print(line, soft_wrap=True)


def _is_shown(operator: OperatorInventory) -> bool:
    return bool(operator.states or operator.other or operator.nbytes or operator.problems)


def _facts(found: Overview) -> str:
    formats = sorted({form for operator in found.operators for form in operator.formats})
    kind = (found.type.name or found.type.kind or "snapshot").lower()
    with_form = f"{kind}, {found.type.format_type.lower()}" if found.type.format_type else kind
    parts = [with_form, f"keyed state as {', '.join(formats)}" if formats else "no keyed state"]
    count = len(found.operators)
    parts += [f"metadata version {found.metadata_version}", f"checkpoint {found.checkpoint_id}"]
    return "; ".join([*parts, f"{count} operator{'s' if count != 1 else ''}", size(found.nbytes)])


def _head(operator: OperatorInventory) -> Text:
    text = Text(operator.uid or operator.id, style="bold")
    name = f"  {operator.name}" if operator.name else ""
    facts = [f"parallelism {operator.parallelism}, max {operator.max_parallelism}"]
    facts += [size(operator.nbytes)] if operator.nbytes else []
    return text.append(f"{name}  {'; '.join([*facts, *operator.other])}", style="not bold dim")


def _states(operator: OperatorInventory, names: int, entries: int) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=0)
    table.add_column(width=min(names, 40), overflow="fold")
    table.add_column(width=len("aggregating"))
    table.add_column(width=max(entries, 7), justify="right")
    table.add_column(overflow="fold")
    for state in operator.states:
        table.add_row("", Text(state.name), state.kind, _entries(state), _types(state))
    return table


def _types(state: StateInventory) -> Text:
    order = ("key", "namespace", "map_key", "value")
    parts = [
        f"[{state.types[name]}]" if name == "namespace" else state.types[name]
        for name in order
        if name in state.types
    ]
    return Text(" → ".join(parts))


def _entries(state: StateInventory) -> str:
    if state.entries is None:
        return "–"
    return f"{'~' if state.estimated else ''}{state.entries:,}"


def _remarks(found: Overview) -> list[Text]:
    lines: list[Text] = []
    for operator in found.operators:
        lines += [Text(f"note: {operator.operator}: {remark}") for remark in operator.remarks]
        for state in operator.states:
            how = "not decoded, carried as bytes" if state.decoded == "none" else "not decoded in part"
            for part in state.opaque:
                lines.append(Text(f"{how}: {state.name} of {operator.operator} ({part})"))
            for line in state.not_decoded:
                lines.append(Text(f"not decoded: {state.name} of {operator.operator}: {line}"))
    bare = [o.uid or o.id + (f" ({o.name})" if o.name else "") for o in found.operators if not _is_shown(o)]
    if bare:
        lines.append(Text(f"without state: {', '.join(bare)}"))
    unresolved = [o for o in found.operators if o.id in found.unresolved and _is_shown(o)]
    lines += [Text(f"unresolved: {operator.id}, {_has(operator)}") for operator in unresolved]
    if unresolved:
        lines.append(
            Text("uids are hashed here: name those of the job with --uid or --uids FILE", style="dim")
        )
    lines += [Text(f"not in the snapshot: {uid}") for uid in found.not_in_snapshot]
    every = [state for operator in found.operators for state in operator.states]
    if any(state.entries is None or state.estimated for state in every) and not found.problems:
        lines.append(Text("entries were not counted: --count reads the states for it", style="dim"))
    lines += [Text(f"not readable: {problem}", style="red") for problem in found.problems]
    return [Text(""), *lines] if lines else []


def _has(operator: OperatorInventory) -> str:
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
