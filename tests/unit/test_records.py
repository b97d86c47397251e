"""What holds for every record: it is not changed on its way, and it is the same on the other side of a process."""

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import pytest
from msgspec import Struct

import clearcite.domain
from clearcite import ports
from clearcite.engine import View
from tests.support.world import principal, record


def structs_of_the_domain() -> Iterator[type[Struct]]:
    for module in pkgutil.iter_modules(clearcite.domain.__path__, "clearcite.domain."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.name:
                yield value


def test_every_record_of_the_domain_is_frozen_and_what_is_filled_in_as_it_goes_is_seen_not_to_be() -> None:
    found = list(structs_of_the_domain())
    assert len(found) > 50
    assert [kind.__name__ for kind in found if not kind.__struct_config__.frozen] == []
    assert ports.StoredDocument.__struct_config__.frozen
    assert not View.__struct_config__.frozen


@pytest.mark.parametrize("name", ["subject_id", "groups", "nothing_of_this_name"])
def test_a_record_cannot_be_changed(name: str) -> None:
    who = principal("staff")
    with pytest.raises(AttributeError):
        setattr(who, name, "mallory")
    with pytest.raises(AttributeError):
        delattr(who, name)
    assert who == principal("staff")


def test_a_record_takes_its_fields_by_name_alone_and_no_others() -> None:
    with pytest.raises(TypeError):
        type(principal())("acme", "alice")  # type: ignore[misc]
    with pytest.raises(TypeError):
        type(principal())(tenant_id="acme", nothing_of_this_name=1)  # type: ignore[call-arg]


def test_equal_records_are_one_in_a_set_and_survive_a_copy_and_another_process() -> None:
    one, other = (record("d", "# Text\n\nOne.", ("staff",)) for _ in range(2))
    assert one is not other
    assert {one, other} == {one}
    assert {copy.deepcopy(one), pickle.loads(pickle.dumps(one))} == {one}
    assert one != record("d", "# Text\n\nTwo.", ("staff",))
