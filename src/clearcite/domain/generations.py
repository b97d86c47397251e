"""Generations of the index as an operator sees them, and the switches of the alias ``live``."""

from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Micros

SwitchKind = Literal["promote", "rollback", "ingest", "repair"]
"""By an operator: ``promote``, ``rollback``. By ingestion: ``ingest`` when the settings have changed, ``repair``
when the index that served cannot be read any more."""


class Generation(Struct, frozen=True, kw_only=True):
    """One build of the index. ``manifest``: the pipeline manifest as canonical JSON.

    ``is_kept``: an operator has built or promoted it, so that only an operator retires it. ``waiting`` counts the
    events it has not taken in, ``given_up`` those it could not, ``served`` the documents it serves.
    """

    name: str
    manifest: str
    index_manifest: str | None
    state: Literal["active", "retired"]
    is_live: bool
    is_kept: bool
    created_at: Micros
    waiting: int
    given_up: int
    served: int


class Switch(Struct, frozen=True, kw_only=True):
    """Who points ``live`` elsewhere, and why. ``panel``: the verdict it was decided on, in one line.

    ``forced``: against the panel, or although events wait.
    """

    kind: SwitchKind
    actor: str
    reason: str
    forced: bool = False
    panel: str = ""


class Switched(Struct, frozen=True, kw_only=True):
    """A switch that was made, in the order of ``number``. ``before`` is empty for the first generation."""

    number: int
    at: Micros
    before: str
    after: str
    switch: Switch
