"""What a keyed state is of, from its meta information."""

from __future__ import annotations

from statelift.io.keyed.meta_info import BackendStateType, StateMetaInfo
from statelift.io.keyed.state_types import keyed_state_type
from statelift.schemas import types as t
from statelift.schemas.snapshots import build
from statelift.schemas.snapshots.base import OpaqueSnapshot


def test_the_keys_of_a_map_with_a_serializer_of_the_user_s_say_whose_it_is() -> None:
    """The snapshot of the map is not known either: the length of what is in it is the user's."""
    unknown = OpaqueSnapshot(class_name="a.MapSnapshot", version=1, raw=b"", unknown_class="a.Mine$Snapshot")
    meta = StateMetaInfo(
        name="by-name",
        backend_state_type=BackendStateType.KEY_VALUE,
        options=(("KEYED_STATE_TYPE", "MAP"),),
        serializers=(("NAMESPACE_SERIALIZER", build.VOID_NAMESPACE), ("VALUE_SERIALIZER", unknown)),
    )
    state = keyed_state_type(meta, t.scalar("long"))
    assert isinstance(state.map_key, t.OpaqueType)
    assert state.map_key.class_name == "a.Mine$Snapshot"
    assert state.value == state.map_key
