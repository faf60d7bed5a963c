"""What tc prints of each discipline in the guest; `python -m oracle.linux.documents TC` records it with this tc."""

import json
import sys
from pathlib import Path
from typing import Any

from oracle.linux import kernel

FILE = Path(__file__).with_suffix(".json")

WORDS = [
    *("pfifo limit 100", "bfifo limit 30000", "pfifo_head_drop limit 100"),
    *("codel limit 1000 target 4ms interval 80ms", "codel ecn ce_threshold 1ms"),
    *(
        "fq_codel",
        "fq_codel limit 1001 flows 256 quantum 300 target 20ms memory_limit 4Mb noecn drop_batch 32 "
        "ce_threshold 2500us",
    ),
    *("pie", "pie limit 200 target 20ms tupdate 16ms alpha 4 beta 30 ecn"),
    *(
        "fq_pie",
        "fq_pie limit 500 flows 64 target 333us tupdate 20ms quantum 300 ecn memory_limit 1mb",
        "fq_codel quantum 100",
    ),
    "red limit 400000 min 30000 max 90000 avpkt 1500 burst 40 probability 0.1 bandwidth 10mbit",
    "red limit 100000 avpkt 1000 ecn bandwidth 10mbit",
    "red limit 400000 max 100000 avpkt 1500 bandwidth 10mbit",
    "red limit 400000 min 30000 max 30000 avpkt 1500 burst 30 bandwidth 10mbit",
    "red limit 20000 min 30000 max 90000 avpkt 1500 probability 1 bandwidth 10mbit",
    "red limit 400000 min 30000 avpkt 1500 harddrop ecn nodrop bandwidth 10mbit",
    "choke limit 300 min 20 max 60 probability 0.1 avpkt 1500 burst 30 bandwidth 10mbit ecn",
    *("choke limit 300 bandwidth 10mbit", "choke limit 301 min 7 bandwidth 10mbit", "choke limit 9 bandwidth 1mbit"),
    *("sfb", "sfb target 30 rehash 300000 limit 500 increment 0.001", "sfb max 43"),
    *("sfq", "sfq limit 60 depth 20 quantum 3000 flows 64 divisor 512 headdrop"),
    "sfq redflowlimit 100000 min 8000 max 60000 avpkt 1000 burst 20 probability 0.1 ecn",
    *("sfq redflowlimit 100000", "sfq redflowlimit 100000 probability 1"),
    *("cake", "cake bandwidth 809kbit diffserv3 rtt 30ms atm overhead 10 ack-filter mpu 64 memlimit 5mb ingress"),
    "cake bandwidth 20mbit diffserv4 pppoe-ptm ether-vlan dual-dsthost",
    "cake bandwidth 20mbit diffserv8 raw",
    *("cake bandwidth 2mbit besteffort flowblind ack-filter-aggressive noatm", "cake unlimited precedence ethernet"),
    "dualpi2",
    "dualpi2 limit 500 target 20ms tupdate 20ms alpha 0.5 beta 4 coupling_factor 3 step_thresh 2ms "
    "classic_protection 20% any_ect overflow min_qlen_step 1",
]
"""Disciplines in tc's words, each kind at its defaults and with many options."""


REFUSED = [
    "red limit 3000 avpkt 1000 bandwidth 10mbit",
    "red limit 400000 min 30000 max 90000 avpkt 1500 burst 10 bandwidth 10mbit",
    "red limit 400000 min 90000 max 30000 avpkt 1500 burst 90 bandwidth 10mbit",
    "red limit 40mb min 1mb max 3mb avpkt 1000 bandwidth 1gbit",
    "red limit 400000 min 30000 avpkt 1500 probability 0.00001 bandwidth 10mbit",
    "choke limit 20 min 30 max 90 bandwidth 10mbit",
    "choke limit 300 min 80 bandwidth 10mbit",
    "choke limit 300 min 75 max 75 bandwidth 10mbit",
    *("sfq redflowlimit 1000", "sfq redflowlimit 100000 max 200000", "sfq redflowlimit 100000 min 25000"),
    *("sfq divisor 1000", "fq_codel flows 70000", "fq_pie flows 70000"),
    "dualpi2 coupling_factor 0",
]
"""Disciplines that tc or the kernel refuses."""


def recorded() -> dict[str, dict[str, Any]]:
    """The recorded document of each discipline in tc's words, or the text with which it was `refused`."""
    documents: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return documents


if __name__ == "__main__":
    tc = sys.argv[1] if len(sys.argv) > 1 else "tc"
    every = [*WORDS, *REFUSED]
    shown = zip(every, kernel.shown(every, tc), strict=True)
    lines = [f"{json.dumps(words)}: {json.dumps(reply.get('document', reply))}" for words, reply in shown]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
