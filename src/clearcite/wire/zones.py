"""Time zones by name. Apart from ``instants``, for few questions name a day and all would wait for the tables."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from clearcite.errors import ConfigError


def zone_of(name: str) -> tzinfo:
    """The time zone of a name such as ``Europe/Lisbon``. Raises ConfigError for one that is not known."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ConfigError("The time zone is not known on this machine.") from None
