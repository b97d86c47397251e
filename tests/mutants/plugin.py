"""A pytest plugin that loads one module of the package with one of its guards taken out, named by the environment."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from tests.mutants.table import MUTANTS, Mutant

VARIABLE = "CLEARCITE_TEST_MUTANT"


class Loader(SourceFileLoader):
    """Reads the source, never the compiled file, and replaces one piece that must stand there exactly once."""

    mutant: Mutant

    def get_code(self, fullname: str) -> Any:
        source = self.get_data(self.path).decode("utf-8")
        if source.count(self.mutant.old) != 1:
            raise RuntimeError(
                f"{self.mutant.name}: its piece of {fullname} stands there {source.count(self.mutant.old)} times"
            )
        return compile(source.replace(self.mutant.old, self.mutant.new), self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"There is no module {fullname}")
        loader = Loader(fullname, spec.origin)
        loader.mutant = self.mutant
        spec.loader = loader
        return spec


def install() -> None:
    (mutant,) = [item for item in MUTANTS if item.name == os.environ[VARIABLE]]
    if mutant.module in sys.modules:
        raise RuntimeError(f"{mutant.module} was loaded before it could be changed")
    sys.meta_path.insert(0, Finder(mutant))


install()
