"""The connection to a Ray cluster, and checks of what the cluster has."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from types import ModuleType

INSTALL: Final = "pip install -c constraints-ray.txt -e '.[ray,train]'"

SECONDS_TO_SETTLE: Final = 10.0  # until Ray reports CPUs that other work has released
PAUSE: Final = 0.5


class ClusterError(FiveUpError):
    """Ray is missing, or a cluster cannot do what is asked of it."""


def connect() -> ModuleType:
    """Return the module `ray`, connected to a cluster.

    This is the cluster at RAY_ADDRESS, or the one that this machine has joined, or else a new one
    on this machine alone.
    """
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
    """Raise a ClusterError unless this many CPUs are free; `what` begins its message.

    Waits a while for CPUs that other work is about to release.
    """
    deadline = time.monotonic() + SECONDS_TO_SETTLE
    while wanted > (free := _count(connect().available_resources())):
        if time.monotonic() > deadline:
            raise ClusterError(f"{what} {wanted} free CPUs; {describe()}, {free} of them free")
        time.sleep(PAUSE)


def describe() -> str:
    """Return the part of an error message that says how many CPUs each node has."""
    alive = [node for node in connect().nodes() if node["Alive"]]
    nodes = [f"{node['NodeManagerAddress']} has {_count(node['Resources'])}" for node in alive]
    return f"this cluster has {processors()} CPUs ({', '.join(nodes)})"


def processors() -> int:
    """Return the number of CPUs of the cluster that Ray may use."""
    return _count(connect().cluster_resources())


def _count(resources: dict[str, float]) -> int:
    return int(resources.get("CPU", 0))
