"""Every source of groups keeps the contract; the controls are sources that do not."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.resolvers.exported import ExportCommand, ExportedFile
from clearcite.adapters.resolvers.policy_file import PolicyFile
from clearcite.domain.policy import Policy, Subject
from clearcite.errors import DependencyUnavailable
from clearcite.keeping import GroupSource
from clearcite.testing.expect import Unmet
from clearcite.testing.group_source_suite import GOOD, GroupSourceSuite


class FromFolder(GroupSourceSuite):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path


def toml(document: Mapping[str, Any]) -> str:
    """JSON values are TOML values; each subject and group is a table of its own."""
    lines = [f"{key} = {value(item)}" for key, item in document.items() if not isinstance(item, dict)]
    for key, item in document.items():
        if key in ("subjects", "groups"):
            for name, table in item.items():
                lines.append(f"[{key}.{value(name)}]")
                lines += [f"{field} = {value(part)}" for field, part in table.items()]
        elif isinstance(item, dict):
            lines.append(f"[{key}]")
            lines += [f"{field} = {value(part)}" for field, part in item.items()]
    return "\n".join(lines)


def value(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)


class TestPolicyFile(FromFolder):
    def source_with(self, document: Mapping[str, Any]) -> GroupSource:
        path = self.folder / "policy.toml"
        path.write_text(toml(document), encoding="utf-8")
        return PolicyFile(path=path)

    def source_without(self) -> GroupSource:
        return PolicyFile(path=self.folder / "absent.toml")


class TestExportedFile(FromFolder):
    def source_with(self, document: Mapping[str, Any]) -> GroupSource:
        path = self.folder / "directory.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return ExportedFile(path=path)

    def source_without(self) -> GroupSource:
        return ExportedFile(path=self.folder / "absent.json")


def running(program: str, folder: Path, seconds: float = 20.0) -> ExportCommand:
    return ExportCommand(words=(sys.executable, "-S", "-c", program), folder=folder, seconds=seconds)


class TestExportCommand(FromFolder):
    def source_with(self, document: Mapping[str, Any]) -> GroupSource:
        (self.folder / "directory.json").write_text(json.dumps(document), encoding="utf-8")
        return running("print(open('directory.json', encoding='utf-8').read())", self.folder)

    def source_without(self) -> GroupSource:
        return running("raise SystemExit(3)", self.folder)


@pytest.mark.parametrize("cut", [0, 1, 40, -2, -1])
def test_an_export_that_was_cut_off_is_a_part(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "directory.json"
    path.write_text(json.dumps(GOOD)[:cut], encoding="utf-8")
    with pytest.raises(DependencyUnavailable):
        ExportedFile(path=path).read()


def test_an_export_that_does_not_say_that_it_is_whole_is_a_part(tmp_path: Path) -> None:
    path = tmp_path / "directory.json"
    path.write_text(json.dumps({k: v for k, v in GOOD.items() if k != "complete"}), encoding="utf-8")
    with pytest.raises(DependencyUnavailable):
        ExportedFile(path=path).read()


def test_a_command_that_hangs_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    """Its child holds the pipe open: it would be waited for as well."""
    program = "import subprocess, sys, time\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)"
    began = time.monotonic()
    with pytest.raises(DependencyUnavailable, match="longer than"):
        running(program, tmp_path, 1.0).read()
    assert time.monotonic() - began < 15


def test_a_command_that_does_not_exist_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    from clearcite.errors import ConfigError

    with pytest.raises(ConfigError):
        ExportCommand(words=("./no-such-program",), folder=tmp_path).read()


class Lenient:
    """The control: takes what it can."""

    origin = "lenient"

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    def read(self) -> Policy:
        subjects = {
            name: Subject(tenant_id=item.get("tenant", "acme"), groups=tuple(item["groups"]))
            for name, item in self.document["subjects"].items()
        }
        return Policy(revision=7, subjects=subjects, groups={})


class LenientSuite(GroupSourceSuite):
    def source_with(self, document: Mapping[str, Any]) -> GroupSource:
        return Lenient(document)


@pytest.mark.parametrize(
    "check",
    [
        "test_the_whole_policy_is_read",
        "test_members_of_members_are_members_and_a_circle_ends",
        "test_what_is_not_sure_of_itself_is_refused",
    ],
)
def test_control_a_source_that_takes_what_it_can_is_refused(check: str) -> None:
    with pytest.raises(Unmet):
        getattr(LenientSuite(), check)()
