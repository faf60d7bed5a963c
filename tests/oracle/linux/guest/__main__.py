"""The guest's only program: builds the network, runs each part in a process of its own, writes one JSON document."""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oracle.linux.guest import bottleneck, datagrams, documents, network, receiver, recording, senders
from oracle.linux.guest.process import Child

SEED = Path("/sys/module/random/parameters/seed")
"""The seed of the kernel's random numbers, which the kernel of `make kernel` has: seed.patch."""

LEAD = 2.0
"""Seconds between the building of the network and time zero: every process is ready by then."""


def main(conf_file: str, result_file: str) -> None:
    conf = json.loads(Path(conf_file).read_text())
    result = {"shown": documents.show(conf["tc"], conf["words"])} if "words" in conf else run(conf)
    # Whole or not at all: the kernel is powered off as soon as this program ends.
    part = Path(result_file + ".part")
    part.write_text(json.dumps(result))
    part.rename(result_file)


def run(conf: Mapping[str, Any]) -> dict[str, Any]:
    if SEED.exists():
        SEED.write_text(str(conf["seed"]))
    network.build(conf)
    zero = time.monotonic() + LEAD
    names = [network.sender(g) for g in range(len(conf["groups"]))]
    jobs = {"queue": Child(network.ROUTER, bottleneck.watch, conf, zero)}
    if "arrivals" in conf:
        jobs["open"] = Child(network.RECEIVER, datagrams.collect, conf, zero)
        jobs[names[0]] = Child(names[0], datagrams.replay, conf, zero)
    else:
        ends: Any = recording if "record" in conf else receiver
        jobs["receiver"] = Child(network.RECEIVER, ends.receive, conf, zero)
        for g, name in enumerate(names):
            send = recording.transfer if "transfers" in conf["groups"][g] else senders.send
            jobs[name] = Child(name, send, conf, zero, g)
    if conf.get("probe", True):
        jobs["probe"] = Child(names[0], recording.probe if "record" in conf else senders.probe, conf, zero)
    result = {name: job.result() for name, job in jobs.items()}
    result["kernel"] = os.uname().release
    result["groups"] = [result.pop(name) for name in names]
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
