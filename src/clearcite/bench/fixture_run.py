"""A fixture from its file to an engine over its documents, in a store that lasts as long as the run."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from clearcite.bench.fixture import Fixture, read_fixture
from clearcite.bench.fixture_store import fill, settings_for, statements_of
from clearcite.bench.scoring import Statements
from clearcite.bench.suite import Suite, SuiteCase, suite_of_fixture
from clearcite.config import Settings
from clearcite.domain.digest import sha256_bytes
from clearcite.engine import Engine
from clearcite.errors import InputError
from clearcite.wiring import engine_on


class FixtureRun(Struct, frozen=True, kw_only=True):
    fixture: Fixture
    suite: Suite
    engine: Engine
    settings: Settings
    statements: Statements

    def case(self, query_id: str) -> SuiteCase:
        for case in self.suite.cases:
            if case.id == query_id:
                return case
        raise InputError(f"the fixture has no query {query_id}")


@contextmanager
def fixture_run(path: Path, base: Settings, faults: Mapping[str, Exception]) -> Iterator[FixtureRun]:
    """Raises InputError for a fixture that does not keep its contract, before a store is made."""
    fixture, raw = read_fixture(path)
    with tempfile.TemporaryDirectory(prefix="clearcite-fixture-") as folder:
        settings = settings_for(fixture, Path(folder), base)
        fill(fixture, settings)
        with engine_on(settings, faults) as engine:
            yield FixtureRun(
                fixture=fixture,
                suite=suite_of_fixture(fixture, sha256_bytes(raw)),
                engine=engine,
                settings=settings,
                statements=statements_of(fixture),
            )
