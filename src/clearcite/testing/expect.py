"""Checks that raise whatever the interpreter's flags are, for suites that ship with the package.

``assert`` vanishes under ``-O``; these do not. They raise ``Unmet``, an AssertionError, so that every test
runner shows it as a failure and not as an error.
"""

from collections.abc import Callable
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


class Unmet(AssertionError):
    """An expectation of a contract does not hold."""


def expect(condition: object, what: str) -> None:
    """``what`` says the sentence that should be true."""
    if not condition:
        raise Unmet(what)


def expect_equal(found: Any, wanted: Any, what: str = "") -> None:
    if found != wanted:
        raise Unmet(f"{what or 'values differ'}: found {found!r}, wanted {wanted!r}")


def expect_raises(kind: type[E], call: Callable[..., Any], *args: Any, **kwargs: Any) -> E:
    """The exception that ``call`` raises, which must be of ``kind``."""
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise Unmet(f"{kind.__name__} was not raised")
