"""What an engine returned, as cases of scope-check: never of one that is down."""

import pytest

from clearcite.bench.exporting import export_cases
from clearcite.engine import Engine
from clearcite.errors import DependencyUnavailable, IntegrityFault
from tests.support.world import NOW
from tests.unit.bench.test_suite_gates import suite, world


@pytest.mark.parametrize("stage", ["plan_query", "recall", "confirm"])
@pytest.mark.parametrize("fault", [DependencyUnavailable, IntegrityFault])
def test_a_question_that_could_not_be_asked_is_no_case_that_leaks_nothing(
    stage: str, fault: type[Exception]
) -> None:
    down = Engine(world().with_services(faults={stage: fault("down")}).services)
    with pytest.raises(DependencyUnavailable, match="lodging could not be asked"):
        list(export_cases(down, suite(), NOW))


def test_control_an_engine_that_answers_gives_a_case_for_each_question() -> None:
    found = list(export_cases(Engine(world().services), suite(), NOW))
    assert [case["id"] for case in found] == ["lodging", "mars"]
    assert found[0]["returned_doc_ids"][0].endswith("/lodging")
