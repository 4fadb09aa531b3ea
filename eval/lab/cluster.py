"""Executors on a cluster: the workers of a Dask scheduler, or jobs of a queue (Slurm, PBS, LSF) that start
such workers.
"""

import asyncio
import contextlib
import importlib
import logging
import math
import os
import queue
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from . import keys
from .executors import KILL_SECONDS, Bundle, Executor, Processes
from .task import Task, TaskOutcome, attempt

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 2.0  # between queries for the number of workers of a cluster
ENVIRONMENT = (
    "MODEXLAB_CACHE",
    "MODEXLAB_STEPS",
    "XDG_CACHE_HOME",
)  # variables that workers on other computers share with us

_ONE_AT_A_TIME = threading.Lock()


def stamp(task: Task) -> str:
    """The key of a task and the digest of all hardware, which must be the same on a remote worker."""
    return f"{task.key} {keys.sources_of_answers()}"


def attempt_there(bundle: Sequence[tuple[Task, str]]) -> list[TaskOutcome]:
    """Run tasks on a worker of Dask, which computes the stamp of each anew: its sources and tools must be the
    same as ours, otherwise its result would belong to another task.
    """
    with _ONE_AT_A_TIME:  # even if the worker was started with several threads
        return [_attempt_stamped(task, expected) for task, expected in bundle]


def _attempt_stamped(task: Task, expected: str) -> TaskOutcome:
    if stamp(task) == expected:
        return attempt(task)
    message = "has other sources of modexlab, or other tools; give it the same, and start it again"
    return TaskOutcome(task, None, f"a worker on {os.uname().nodename} {message}", fatal=True)


class Dask(Executor):
    """The workers of a Dask scheduler. If a worker dies, Dask gives its tasks to another one.

    Dask suspects all tasks that a worker had when it died. They run again one at a time, so that a task that
    kills its workers fails alone.
    """

    def __init__(
        self, client: "Client", name: str, cluster: Any = None, refusals: Sequence[str] = ()
    ) -> None:
        """cluster: the jobs of a queue; refusals: the reasons why the queue refused jobs so far."""
        super().__init__()
        self._client, self._cluster, self._refusals = client, cluster, refusals
        self.name = name
        self._ended: queue.SimpleQueue[tuple[Bundle, float, Future]] = queue.SimpleQueue()
        self._futures: dict[Future, None] = {}
        self._suspects: list[Task] = []
        self.messages = 0  # bundles that were sent
        self._workers, self._looked = 0, -LOOK_SECONDS

    @property
    def workers(self) -> int:  # type: ignore[override]
        if time.monotonic() - self._looked > LOOK_SECONDS:
            with contextlib.suppress(OSError):  # gone: `collect` reports it
                self._workers = len(self._client.scheduler_info()["workers"])
            self._looked = time.monotonic()
        return self._workers

    @property
    def free(self) -> bool:
        # one bundle running and one queued per worker
        return not self._suspects and len(self._futures) < 2 * max(self.workers, 1)

    def start(self, bundle: Bundle) -> None:
        self.messages += 1
        begun = time.perf_counter()
        key = f"modexlab-{os.getpid()}-{self.messages}"
        stamped = [(task, stamp(task)) for task in bundle]
        future = self._client.submit(attempt_there, stamped, key=key, pure=False)
        self._futures[future] = None
        future.add_done_callback(lambda ended: self._ended.put((bundle, begun, ended)))

    def ended(self, timeout: float) -> list[TaskOutcome]:
        if self._suspects and not self._futures:
            self.start(self._suspects[:1])
        outcomes = []
        with contextlib.suppress(queue.Empty):
            outcomes += self._outcomes(*self._ended.get(timeout=timeout))
            while True:
                outcomes += self._outcomes(*self._ended.get_nowait())
        if not outcomes and self._refusals and not self.workers:
            raise BadInput(
                f"{self.name}: the queue refuses them: {self._refusals[0]}; "
                "change them by --option NAME=VALUE"
            )
        if not outcomes and self._futures and self._client.status not in ("running", "connecting"):
            raise BadInput(f"{self.name}: the scheduler is gone; start it again")
        return outcomes

    def _outcomes(self, bundle: Bundle, begun: float, future: "Future") -> list[TaskOutcome]:
        from distributed import KilledWorker

        self._futures.pop(future, None)
        if future.cancelled() or future.status == "lost":
            return self._failed(bundle, begun, f"{self.name}: the scheduler is gone; start it again", True)
        error = future.exception()
        if error is None:
            if bundle == self._suspects[:1]:
                del self._suspects[:1]
            return future.result()
        if isinstance(error, KilledWorker):
            if bundle != self._suspects[:1]:
                self._suspects += bundle
                return []
            del self._suspects[:1]
            return self._failed(bundle, begun, "the workers that had it were killed, one after the other")
        reason = f"{self.name}: a worker cannot take points ({type(error).__name__}: {error})"
        return self._failed(bundle, begun, f"{reason}; give it the same modexlab", True)

    def _failed(self, bundle: Bundle, begun: float, why: str, fatal: bool = False) -> list[TaskOutcome]:
        seconds = time.perf_counter() - begun
        return [TaskOutcome(task, None, why, seconds, fatal) for task in bundle]

    def close(self) -> None:
        if self._futures:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(self._futures), force=True)
        self._client.close(timeout=KILL_SECONDS)
        if self._cluster is not None:
            with contextlib.suppress(AssertionError):  # of Dask, about jobs that were refused
                self._cluster.close(timeout=KILL_SECONDS)


def connect(address: str) -> Dask:
    """Connect to the Dask scheduler at an address; BadInput if it does not respond within CONNECT_SECONDS or
    has no workers.
    """
    from distributed import Client  # slow to import, which must not count towards the timeout

    _quiet()
    timeout = CONNECT_SECONDS
    remedy = "start one by `dask scheduler --port 8786`, or leave --scheduler out to measure here"
    try:
        found = asyncio.run(asyncio.wait_for(_identity(address, timeout), timeout + 1))
    except ValueError as error:
        raise BadInput(f"--scheduler {address}: {error}; give an address such as tcp://host:8786") from None
    except (OSError, TimeoutError, asyncio.TimeoutError):
        raise BadInput(f"--scheduler {address}: no answer in {timeout:.0f} s; {remedy}") from None
    except Exception as error:  # a server of another kind
        said = str(error) or type(error).__name__
        raise BadInput(f"--scheduler {address}: this is no Dask scheduler ({said}); {remedy}") from None
    if found.get("type") != "Scheduler":
        raise BadInput(f"--scheduler {address}: this is a {found.get('type', 'stranger').lower()}; {remedy}")
    if not found["workers"]:
        raise BadInput(
            f"--scheduler {address}: it has no workers; start some: dask worker {address} --nworkers 2 "
            "--nthreads 1"
        )
    return Dask(Client(address, timeout=timeout, set_as_default=False), address)


async def _identity(address: str, timeout: float) -> dict[str, Any]:
    """The identity of the server. Without a server, a Client would take ten more seconds to end."""
    from distributed.core import rpc

    async with rpc(address, timeout=timeout) as there:
        return await there.identity()


# by kind of queue: the class in dask-jobqueue, and the command that submits jobs
QUEUES = {"slurm": ("SLURMCluster", "sbatch"), "lsf": ("LSFCluster", "bsub"), "pbs": ("PBSCluster", "qsub")}
# defaults of one job: a point needs one core, and the flow at 64 bits needs 2 GB
JOB = {"cores": 1, "memory": "4GB", "walltime": "04:00"}


def make_queue(kind: str, options: Mapping[str, str], refusals: list[str]) -> Any:
    """A dask-jobqueue cluster without jobs; `options` are settings of that cluster.

    Jobs append to `refusals` why the queue refuses them, which dask-jobqueue only logs.
    """
    dask_jobqueue = _imported("dask_jobqueue")
    _quiet()
    names = {name: name.replace("-", "_") for name in options}
    given = {names[name]: _setting(names[name], value) for name, value in options.items()}
    values = {
        **JOB,
        "walltime": JOB["walltime"] if kind == "lsf" else f"{JOB['walltime']}:00",
        "python": sys.executable,
        "scheduler_options": {"dashboard_address": ":0"},
        **given,
    }
    values.setdefault("processes", values["cores"])
    exports = [f"export {name}={os.environ[name]}" for name in ENVIRONMENT if name in os.environ]
    exports.append("export PYTHONSAFEPATH=1")  # since Python 3.11: import nothing from the job's directory
    values["job_script_prologue"] = [*exports, *values.get("job_script_prologue", [])]
    make = getattr(dask_jobqueue, QUEUES[kind][0])

    class Noting(make.job_cls):  # type: ignore[name-defined]
        async def start(self) -> None:
            try:
                await super().start()
            except RuntimeError as error:
                words = str(error).partition("stderr:")[2].split()
                refusals.append(" ".join(words) or str(error))
                raise

    try:
        return make(job_cls=Noting, **values)
    except (TypeError, ValueError) as error:
        wrong = next((name for name in given if f"'{name}'" in str(error)), None)
        if wrong is not None:
            raise BadInput(
                f"--option {wrong}={given[wrong]}: {QUEUES[kind][0]} has no such option; there are cores, "
                "memory, processes, "
                "walltime, queue, account (LSF: project), interface, local_directory, log_directory, "
                "job_extra_directives"
            ) from None
        raise BadInput(
            f"--{kind}: {' '.join(str(error).split())}; change it by --option NAME=VALUE"
        ) from None


def _imported(name: str) -> Any:
    """A module whose import replaces the handler of SIGINT; the handler stays the present one."""
    before = signal.getsignal(signal.SIGINT)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return importlib.import_module(name)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _setting(name: str, value: str) -> Any:
    """The value of an option. Whole numbers become numbers; options that are lists get one entry."""
    if name in ("job_extra_directives", "job_script_prologue", "worker_extra_args", "job_directives_skip"):
        return [value]
    return int(value) if value.isdigit() else value


def start_queue(kind: str, jobs: int, options: Mapping[str, str]) -> Dask:
    """Submit jobs whose workers connect to a scheduler in this process."""
    command = QUEUES[kind][1]
    if shutil.which(command) is None:
        raise BadInput(
            f"--{kind} {jobs}: there is no {command} here; run this where jobs are handed in (a login node), "
            "or leave it out to measure here"
        )
    from distributed import Client

    refusals: list[str] = []
    cluster = make_queue(kind, options, refusals)
    cluster.scale(jobs=jobs)
    return Dask(Client(cluster, set_as_default=False), f"{jobs} jobs of {kind}", cluster, refusals)


def _quiet() -> None:
    """Silence the loggers of Dask, which report every event of a worker on stderr; failures arrive as
    outcomes. Some of these loggers have a level of their own.
    """
    importlib.import_module("distributed")  # sets the levels
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def executor_for(
    jobs: int,
    address: str | None,
    queues: Mapping[str, int],
    options: Mapping[str, str],
    timeout: float = math.inf,
) -> Executor:
    """The executor that the user selected; timeout: for tasks of local workers."""
    if address is not None:
        return connect(address)
    for kind, count in queues.items():
        return start_queue(kind, count, options)
    return Processes(jobs, timeout)
