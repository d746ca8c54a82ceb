"""``statelift get``: what the states hold for one key."""

from __future__ import annotations

from typing import Any

import click

from ..state_ops.values import VALUES_HELP
from .keys import KEY_HELP
from .options import Source, snapshot_options, wide_times_option
from .problems import finish

_HELP = f"""Show what the states of an operator hold for one key, as JSON.

    Only the bytes are read where the key can be: its key group, of RocksDB the blocks that can hold it.

    \b
    statelift get ./savepoint --uid session-tracker user-1
    statelift get s3://state/sp-1 --uid fraud-detector --state fraud-scores account-7
    statelift get ./savepoint --uid orders '["eu", 4711]'

    {KEY_HELP} {VALUES_HELP} Exit code 1 where no state has the key.
    """


@click.command(
    "get",
    help=_HELP,
    short_help="Show every state of one key.",
    context_settings={"ignore_unknown_options": True},  # a key may be -1
)
@snapshot_options
@wide_times_option
@click.argument("key")
@click.option("--uid", required=True, metavar="UID", help="The operator: its uid or its 32-digit id.")
@click.option("--state", metavar="NAME", help="Only this state.")
@click.option("--json", "as_json", is_flag=True, help="One line, for machines.")
def command(
    source: Source,
    key: str,
    uid: str,
    state: str | None,
    as_json: bool,
) -> int:
    import json

    from ..schemas.errors import NameNotFoundError, Where
    from ..state_ops.lookup import key_array_type, key_type, look_up
    from ..state_ops.states import KeyedState
    from ..state_ops.values import to_json, values
    from .keys import parse_key

    snapshot = source.open([uid])
    operator = snapshot.operator(uid)
    keyed = [one for one in operator.states if isinstance(one, KeyedState)]
    kind = key_type(operator)
    if state is not None:
        keyed = [one for one in keyed if one.name == state]
        if not keyed:
            known = [one.name for one in operator.states if isinstance(one, KeyedState)]
            raise NameNotFoundError("keyed state", state, known, where=Where(operator=operator.label))
    wanted = parse_key(key, kind, key_array_type(kind, wide_times=source.wide_times))
    found = look_up(operator, keyed, wanted)
    shown = {
        "operator": operator.label,
        "key": values(wanted)[0],
        "key_group": found.key_group,
        "subtask": found.subtask,
        "states": {one.name: _held(one, found.rows[one.name]) for one in keyed},
    }
    click.echo(to_json(shown) if as_json else json.dumps(shown, ensure_ascii=False, indent=2))
    code = finish([operator])
    if not any(len(table) for table in found.rows.values()):
        click.echo(f"statelift: no state of {operator.label} has the key {key}", err=True)
        return 1
    return code


def _held(state: Any, table: Any) -> Any:
    """What a state holds of the key: its value where that is all, an object of a map, else a list of rows."""
    from ..state_ops.values import rows

    listed = [
        {name: value for name, value in row.items() if name not in ("key", "key_group")}
        for batch in table.to_batches()
        for row in rows(batch)
    ]
    if not listed:
        return None
    columns = set(listed[0])
    if columns == {"value"} and len(listed) == 1:
        return listed[0]["value"]
    if columns == {"map_key", "value"} and all(isinstance(row["map_key"], str) for row in listed):
        return {row["map_key"]: row["value"] for row in listed}
    return listed
