"""The cluster: finding it, and refusing what it does not have."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from types import ModuleType

INSTALL: Final = "pip install -c constraints-ray.txt -e '.[ray,train]'"

SECONDS_TO_SETTLE: Final = 10.0  # until what other work has given back is known to be free
PAUSE: Final = 0.5


class ClusterError(FiveUpError):
    """Ray is missing, or a cluster cannot do what is asked of it."""


def connect() -> ModuleType:
    """Ray, connected: to RAY_ADDRESS, or the cluster that this machine is in, or to itself."""
    try:
        import ray
    except ModuleNotFoundError:
        raise ClusterError(f"Ray is not installed: {INSTALL}") from None
    if not ray.is_initialized():
        try:
            ray.init(logging_level="ERROR", log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = str(error).partition("\n")[0]
            raise ClusterError(f"there is no Ray cluster to connect to: {why}") from None
    return ray


def check_free(wanted: int, what: str) -> None:
    """Refuse what a cluster has too few processors for, now that other work has its share."""
    deadline = time.monotonic() + SECONDS_TO_SETTLE
    while wanted > (free := _count(connect().available_resources())):
        if time.monotonic() > deadline:
            raise ClusterError(f"{what} {wanted} free CPUs; {describe()}, {free} of them free")
        time.sleep(PAUSE)


def describe() -> str:
    """What the cluster has, for a message."""
    alive = [node for node in connect().nodes() if node["Alive"]]
    nodes = [f"{node['NodeManagerAddress']} has {_count(node['Resources'])}" for node in alive]
    return f"this cluster has {processors()} CPUs ({', '.join(nodes)})"


def processors() -> int:
    """The CPUs of the cluster that Ray may use."""
    return _count(connect().cluster_resources())


def _count(resources: dict[str, float]) -> int:
    return int(resources.get("CPU", 0))
