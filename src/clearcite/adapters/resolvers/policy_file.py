"""A policy kept by hand: ``policy.toml``, read whole each time it is needed."""

import tomllib
from pathlib import Path

from msgspec import Struct

from clearcite.domain.policy import Policy
from clearcite.errors import ConfigError, TooLarge
from clearcite.wire.policies import MAX_POLICY_BYTES, read_policy


class PolicyFile(Struct, frozen=True, kw_only=True):
    """Implements ``GroupSource``."""

    path: Path

    @property
    def origin(self) -> str:
        return self.path.name

    def read(self) -> Policy:
        try:
            raw = read_bounded(self.path)
            return read_policy(tomllib.loads(raw.decode("utf-8")))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"The policy file is not valid TOML: {error}.") from error
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"The policy file cannot be read: {type(error).__name__}.") from error


def read_bounded(path: Path) -> bytes:
    """The bytes of a policy file. Raises TooLarge; OSError where it cannot be read."""
    with path.open("rb") as stream:
        raw = stream.read(MAX_POLICY_BYTES + 1)
    if len(raw) > MAX_POLICY_BYTES:
        raise TooLarge(f"The policy is larger than {MAX_POLICY_BYTES} bytes.")
    return raw
