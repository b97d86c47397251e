"""What somebody who builds on the engine finds of it."""

import typing

from clearcite.engine import Engine


def test_the_types_of_what_an_engine_is_called_with_can_be_looked_up() -> None:
    """Frameworks make forms and tools of a function by its annotations."""
    calls = [call for name, call in vars(Engine).items() if not name.startswith("_") and callable(call)]
    assert {"ask", "search", "document", "documents"} <= {call.__name__ for call in calls}
    assert all("return" in typing.get_type_hints(call) for call in calls)
