"""The contract of a parser, held by both ways of running the parsers."""

from collections.abc import Iterator
from contextlib import contextmanager

from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.parsers.formats import LocalParser
from clearcite.storing import Parser
from clearcite.testing.parser_suite import ParserSuite


class TestLocalParser(ParserSuite):
    @contextmanager
    def open_parser(self) -> Iterator[Parser]:
        yield LocalParser()


class TestChildParser(ParserSuite):
    @contextmanager
    def open_parser(self) -> Iterator[Parser]:
        with ChildParser() as parser:
            yield parser
