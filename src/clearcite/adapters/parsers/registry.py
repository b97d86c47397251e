"""Which parsers there are, by version. Imports none of them: they run in the child process only."""

from importlib.metadata import PackageNotFoundError, version

PARSERS = "clearcite-parse-2"
_LIBRARIES = ("markdown-it-py", "selectolax", "pypdfium2")


def parser_fingerprint() -> str:
    """For the pipeline manifest: another parser or version builds a new generation."""
    return ";".join([PARSERS, *(f"{name}={_version(name)}" for name in _LIBRARIES)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
