"""`make test-kernel`: laws in a real kernel beside `aqm`, packet for packet, and with the guest's own TCP."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.cli.terminal import progress_bar
from aqmlab.figures import matplotlib
from oracle.kernel import closed, figure, open_loop
from oracle.linux import ours
from oracle.linux.check import FEWEST_DISCIPLINES
from oracle.linux.kernel import Missing
from oracle.verdict import aligned, enough, table, totals

OUT = Path("out/kernel")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make test-kernel", description=__doc__)
    parser.add_argument("--laws", help="some laws only, separated by spaces", default=" ".join(open_loop.LAWS))
    parser.add_argument("--packets", type=int, default=open_loop.PACKETS)
    parser.add_argument("--closed", choices=["run", "record", "stored", "none"], default="run")
    given = parser.parse_args()
    try:
        status = packet_for_packet(given.laws.split(), given.packets)
        if given.closed != "none":
            with progress_bar() as progress:
                runs = closed.stored() if given.closed == "stored" else closed.run_all(progress)
            status |= beside_ours(runs)
            if given.closed == "record":
                closed.STORED.write_text("".join(f"{json.dumps(run)}\n" for run in runs))
    except Missing as reason:
        sys.exit(str(reason))
    return status


def packet_for_packet(laws: Sequence[str], packets: int) -> int:
    lines = [("equal", "of packets", "early", "full", "enqueue", "dequeue", "loaded in", "algorithm")]
    good = True
    for one in open_loop.judged(laws, packets):
        numbers = one.equal, one.packets, one.early, one.full, one.enqueue, one.dequeue
        lines.append((*map(str, numbers), f"{one.seconds:.1f} s", one.algorithm))
        # Otherwise it was a drop-tail queue that was judged.
        good &= one.equal == one.packets and one.early > packets / 100
    print(aligned(lines, {"algorithm"}))
    print("early, full: drops by the algorithm, and for want of room; enqueue, dequeue: what the verifier read\n")
    return 0 if good else 1


def beside_ours(runs: Sequence[Mapping[str, Any]]) -> int:
    compared, _ = ours.judged(closed.points(runs))
    found = [check for each in compared.values() for check in each]
    print(table(found, "kernel"))
    print(totals(found, FEWEST_DISCIPLINES))
    matplotlib.save(figure.queues(runs), OUT, ["png"], "queues")
    print(f"\n{OUT / 'queues.png'}")
    return 0 if enough(found, FEWEST_DISCIPLINES) else 1


if __name__ == "__main__":
    sys.exit(main())
