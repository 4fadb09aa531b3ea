"""A Slurm of one node on the loopback, for tests: its daemons run as the present user, from one folder."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = f"{os.environ['PATH']}:/usr/sbin"
SECONDS = 60.0  # until the node is idle
MEMORY_MIB = 2048  # of the node
CONFIGURATION = """\
ClusterName=modexlab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """The programs of Slurm that are not installed."""
    return [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=PATH) is None]


@contextmanager
def slurm(folder):
    """A running Slurm; yields SLURM_CONF, the file by which its commands find it."""
    configuration = folder / "slurm.conf"
    for name in ("state", "spool"):
        (folder / name).mkdir()
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            user=getpass.getuser(),
            controller=_free_port(),
            node=_free_port(),
            cores=max(2, os.cpu_count()),
            memory=MEMORY_MIB,
        )
    )
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    folder.chmod(0o711)
    environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(configuration)}
    files = {"key-file": key, **{f"{kind}-file": folder / f"munge.{kind}" for kind in ("pid", "log", "seed")}}
    options = [f"--{name}={path}" for name, path in files.items()]
    commands = (
        ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *options],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    )
    started = []
    try:
        for name, *more in commands:
            with (folder / f"{name}.out").open("w") as log:
                command = [shutil.which(name, path=PATH), *more]
                started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        _wait_for_node(environment)
        yield str(configuration)
    finally:
        for daemon in reversed(started):
            daemon.terminate()
            daemon.wait(SECONDS)


def _wait_for_node(environment):
    end = time.monotonic() + SECONDS
    command = ["sinfo", "--noheader", "--format=%t"]
    while subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip() != "idle":
        assert time.monotonic() < end, "the node of Slurm does not start"
        time.sleep(0.2)


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
