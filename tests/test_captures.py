"""Captures of TCP, which `aqmlab calibrate` reads.

Those that are stored are of real TCP of Linux, 9 s over a link of 3 Mbit/s with a buffer of 40 packets (`aqmlab run
--engine linux --pcapng`), the first 96 bytes of each frame at both of its ends.
"""

import gzip
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from aqmlab.calibrate import calibrate, inference
from aqmlab.calibrate.recording import recorded
from aqmlab.exchange import measured
from aqmlab.exchange.measured import Measured, captured

STORED = ROOT / "tests/measured"
RATE, PACKETS, TRIP = 3e6, 40, 0.0453
"""Of the link: bit/s of IP packets, its buffer, and the round trip of a small packet in s."""

ETHERNET, RAW, SLL, SLL2 = 1, 101, 113, 276

Frame = tuple[int, bytes, int]
"""Nanoseconds, what was captured from the IP header on, and the bytes of the IP packet."""


def frames(side: str) -> list[Frame]:
    """The packets of a stored capture."""
    return list(_frames(gzip.decompress((STORED / f"{side}.pcap.gz").read_bytes())))


def _frames(content: bytes) -> Iterator[Frame]:
    at = 24
    while at < len(content):
        seconds, nanos, kept, size = struct.unpack_from("<IIII", content, at)
        yield seconds * 10**9 + nanos, content[at + 30 : at + 16 + kept], size - 14
        at += 16 + kept


HEADS = {
    ETHERNET: bytes(12) + b"\x08\x00",
    RAW: b"",
    SLL: bytes(14) + b"\x08\x00",
    SLL2: b"\x08\x00" + bytes(18),
}


def pcap(found: Sequence[Frame], link: int = ETHERNET, head: bytes | None = None) -> bytes:
    """A file of these packets, with what precedes an IP packet on that link."""
    before = HEADS[link] if head is None else head
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, link)]
    for nanos, packet, size in found:
        frame = (before + packet)[:96]
        out += [struct.pack("<IIII", *divmod(nanos, 10**9), len(frame), size + len(before)), frame]
    return b"".join(out)


def pcapng(found: Sequence[Frame], missed: int = 0) -> bytes:
    """The same as pcapng, on the second of two interfaces, and what the system counted."""

    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack("<I", 12 + len(body) + -len(body) % 4)
        return struct.pack("<I", kind) + length + body + bytes(-len(body) % 4) + length

    option = struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0)
    out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    out += [block(1, struct.pack("<HHI", ETHERNET, 0, 96)), block(1, struct.pack("<HHI", RAW, 0, 96) + option)]
    for nanos, packet, size in found:
        out.append(block(6, struct.pack("<IIIII", 1, nanos >> 32, nanos & 0xFFFFFFFF, len(packet), size) + packet))
    out.append(block(5, struct.pack("<IIIHHQHH", 1, 0, 0, 7, 8, missed, 0, 0)))
    return b"".join(out)


SIDES = {side: frames(side) for side in ("sender", "receiver")}
"""The packets of both."""


def changed(packet: bytes, at: int, value: bytes) -> bytes:
    return packet[:at] + value + packet[at + len(value) :]


def is_data(frame: Frame) -> bool:
    return frame[2] > 200


def one(folder: Path, content: bytes) -> Measured:
    """The measurement in a file of this content."""
    (folder / "link.pcap").write_bytes(content)
    (found,) = measured.read(folder / "link.pcap")
    return found


def read(folder: Path, *contents: bytes) -> list[Measured]:
    """The measurements in files of one link."""
    paths = [folder / f"{number}.pcap" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return captured.read(paths)


def refusal(folder: Path, *contents: bytes) -> str:
    with pytest.raises(ValueError, match=r"\.pcap: ") as error:
        read(folder, *contents)
    text = str(error.value)
    assert "\n" not in text
    return text.partition(".pcap: ")[2]


def both_sides() -> Measured:
    """The measurement in the stored captures of both ends, by one clock."""
    (found,) = captured.read([STORED / f"{side}.pcap.gz" for side in SIDES])
    return found


def require_same(found: Measured, true: Measured) -> None:
    """Compare two measurements bin by bin."""
    assert found.transfer
    assert true.transfer
    assert found.transfer.seconds == true.transfer.seconds
    assert [t for t, _ in found.delays] == pytest.approx([t for t, _ in true.delays], abs=1e-3)
    assert [trip for _, trip in found.delays] == pytest.approx([trip for _, trip in true.delays], abs=1e-3)
    # A bin may have a segment of the next one, by the drift of a packet's time.
    assert [rate for _, rate in found.rates] == pytest.approx([rate for _, rate in true.rates], abs=8 * 1448 / 0.1)
    for name, value in true.metrics.items():
        assert found.metrics[name] == pytest.approx(value, rel=1e-3)


def summary(found: Measured) -> list[float]:
    """The rate in Mbit/s, quantiles of the round trips in ms, and segments sent again."""
    transfer = found.transfer
    assert transfer
    rates = [value * 1500 / 1448 / 1e6 for _, value in found.rates[20:-5]]
    trips = np.percentile([trip * 1e3 for _, trip in found.delays], [0, 50, 100])
    return [float(np.mean(rates)), *trips, sum(count for _, count in transfer.repeated)]


@pytest.mark.parametrize("sides", [["sender"], ["receiver"], ["sender", "receiver"]])
def test_each_side_and_both_tell_the_same(sides: list[str]) -> None:
    (found,) = captured.read([STORED / f"{side}.pcap.gz" for side in sides])
    rate, least, _, longest, repeated = summary(found)
    assert rate == pytest.approx(RATE / 1e6, rel=0.003)
    assert TRIP * 1e3 <= least < (TRIP + 2 * 12000 / RATE) * 1e3
    # The last packet of a full buffer waits for all others, and the one under way.
    assert longest == pytest.approx((TRIP + PACKETS * 12000 / RATE) * 1e3, rel=0.02)
    assert repeated == pytest.approx(summary(captured.read([STORED / "sender.pcap.gz"])[0])[-1], abs=1)
    assert found.transfer
    assert (found.transfer.up, found.transfer.flows, found.transfer.segment, found.transfer.exact) == (
        True,
        1,
        1448,
        True,
    )
    assert min(found.transfer.idle) == pytest.approx(TRIP, rel=0.01)


def test_link_is_found_from_either_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "FIRST", 20)
    monkeypatch.setattr(inference, "EACH", 60)
    for side in ("sender", "receiver"):
        found = calibrate([STORED / f"{side}.pcap.gz"])
        assert found.rate.low < RATE < found.rate.high
        assert found.base_rtt.low < TRIP < found.base_rtt.high
        assert found.buffer.low < PACKETS * 1500 < found.buffer.high
        assert found.families["droptail"] > 0.3
        assert found.fits
        found.link().check()


FORMS: dict[str, Callable[[Sequence[Frame]], bytes]] = {
    "raw": lambda found: pcap(found, RAW),
    "cooked": lambda found: pcap(found, SLL),
    "cooked, version 2": lambda found: pcap(found, SLL2),
    "tagged": lambda found: pcap(found, ETHERNET, bytes(12) + b"\x81\x00\x00\x07\x08\x00"),
    "pcapng": pcapng,
    "compressed": lambda found: gzip.compress(pcap(found)),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_files_and_of_links_do_not_matter(form: str, tmp_path: Path) -> None:
    whole = one(tmp_path, pcap(frames("sender")))
    assert summary(one(tmp_path, FORMS[form](frames("sender")))) == pytest.approx(summary(whole), rel=0.02)


def test_numbers_may_wrap(tmp_path: Path) -> None:
    found = frames("sender")
    first = struct.unpack_from(">I", found[0][1], 24)[0]
    shift = (1 << 32) - first - 500_000

    def moved(frame: Frame) -> Frame:
        nanos, packet, size = frame
        # The sender's own numbers, and those that are acknowledged to it.
        at = 24 if packet[12:16] == found[0][1][12:16] else 28
        number = struct.unpack_from(">I", packet, at)[0]
        packet = changed(packet, at, struct.pack(">I", (number + shift) % (1 << 32)))
        options, place = packet[40:], 0
        while place + 1 < len(options) and at == 28 and options[place]:
            if options[place] == 5:
                edges = range(place + 2, place + options[place + 1], 4)
                for edge in (each for each in edges if each + 4 <= len(options)):
                    value = struct.unpack_from(">I", options, edge)[0]
                    options = changed(options, edge, struct.pack(">I", (value + shift) % (1 << 32)))
            place += 1 if options[place] == 1 else options[place + 1]
        return nanos, packet[:40] + options, size

    assert summary(one(tmp_path, pcap([moved(frame) for frame in found]))) == summary(one(tmp_path, pcap(found)))


def test_packets_that_a_card_will_divide_are_several(tmp_path: Path) -> None:
    found, merged = frames("sender"), list[Frame]()
    for frame in found:
        before = merged[-1] if merged else frame
        number = struct.unpack_from(">I", frame[1], 24)[0]
        follows = struct.unpack_from(">I", before[1], 24)[0] + before[2] - 52 == number
        if is_data(frame) and is_data(before) and follows and before[2] < 6000 and frame[0] - before[0] < 10**6:
            size = before[2] + frame[2] - 52
            merged[-1] = (before[0], changed(before[1], 2, struct.pack(">H", size)), size)
        else:
            merged.append(frame)
    assert len(merged) < 0.8 * len(found)
    whole, large = one(tmp_path, pcap(found)), one(tmp_path, pcap(merged))
    assert large.transfer
    assert large.transfer.segment == 1448
    assert summary(large) == pytest.approx(summary(whole), rel=0.02, abs=1)


@pytest.mark.parametrize(("offset", "drift"), [(3600, 2e-4), (86400, 5e-5), (-86400, -1e-4), (-0.3, 4e-4)])
def test_drift_and_offset_of_clocks_are_removed(offset: float, drift: float, tmp_path: Path) -> None:
    start = frames("sender")[0][0]
    late = [
        (nanos + int(1e9 * offset + drift * (nanos - start)), packet, size)
        for nanos, packet, size in frames("receiver")
    ]
    (found,) = read(tmp_path, pcap(frames("sender")), pcap(late))
    require_same(found, both_sides())


def behind_a_queue(found: Sequence[Frame], wait: Callable[[float], float]) -> list[Frame]:
    """The same if what comes back to the sender waits, by the seconds since the beginning."""
    start, source = found[0][0], found[0][1][12:16]
    return sorted(
        (nanos + int(1e9 * wait((nanos - start) / 1e9)) * (packet[12:16] != source), packet, size)
        for nanos, packet, size in found
    )


def test_queue_of_the_way_back_is_no_drift(tmp_path: Path) -> None:
    late = behind_a_queue(frames("sender"), lambda t: 0.125 * (1 - np.cos(4.2 * t)) * (t > 0.1))
    (found,) = read(tmp_path, pcap(late), pcap(frames("receiver")))
    require_same(found, both_sides())


def test_clocks_that_cannot_be_told_from_queues_are_refused(tmp_path: Path) -> None:
    late = behind_a_queue(frames("sender"), lambda t: 0.01 * t)
    text = refusal(tmp_path, pcap(late), pcap(frames("receiver")))
    assert text.startswith("the clocks of the two ends cannot be told from queues in both directions")


def shifted(found: Sequence[Frame], seconds: float) -> list[Frame]:
    """The same by a clock that was set in the middle."""
    middle = found[len(found) // 2][0]
    return [(nanos + (int(1e9 * seconds) if nanos > middle else 0), packet, size) for nanos, packet, size in found]


@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("seconds", [0.5, 3600, 3e7, -0.5, -3600])
def test_clock_that_was_set_is_refused(side: str, seconds: float, tmp_path: Path) -> None:
    way = "forward by" if seconds > 0 else "its times go back by"
    text = refusal(tmp_path, pcap(shifted(frames(side), seconds)))
    assert way in text
    assert "stop what sets it (NTP)" in text
    both = [pcap(shifted(found, seconds) if name == side else found) for name, found in SIDES.items()]
    assert way in refusal(tmp_path, *both)


def test_clock_that_was_set_is_refused_without_time_stamps(tmp_path: Path) -> None:
    bare = shifted(without_stamps(frames("sender")), 3600)
    assert refusal(tmp_path, pcap(bare)).startswith("3600 s without a packet in a transfer")


@pytest.mark.parametrize("place", [3, 500, -500])
def test_damaged_time_is_refused(place: int, tmp_path: Path) -> None:
    found = frames("sender")
    nanos, packet, size = found[place]
    for wrong in (nanos + 2000 * 10**9, 4 * 10**18, 0):
        found[place] = wrong, packet, size
        assert "its times go back by" in refusal(tmp_path, pcap(found))


def test_packets_out_of_order_in_the_file_are_put_in_order(tmp_path: Path) -> None:
    found = frames("sender")
    mixed = list(found)
    for place in range(0, len(found) - 1, 2):
        if found[place][0] < found[place + 1][0]:
            mixed[place : place + 2] = found[place + 1], found[place]
    assert mixed != found
    assert summary(one(tmp_path, pcap(mixed))) == summary(one(tmp_path, pcap(found)))


def on_port(found: Sequence[Frame], port: int, seconds: float = 0.0) -> list[Frame]:
    """Another transfer, some seconds later."""
    source = SIDES["sender"][0][1][12:16]
    return [
        (
            nanos + int(1e9 * seconds),
            changed(packet, 20 if packet[12:16] == source else 22, struct.pack(">H", port)),
            size,
        )
        for nanos, packet, size in found
    ]


@pytest.mark.parametrize("seconds", [4, 7.5, 15])
def test_transfers_one_after_another_are_refused(seconds: float, tmp_path: Path) -> None:
    found = frames("sender")
    text = refusal(tmp_path, pcap(sorted([*found, *on_port(found, 999, seconds)])))
    assert text.startswith("2 transfers, of the ports 52260, 999, not all of them at once: keep one")
    assert one(tmp_path, pcap(sorted([*found, *on_port(found, 999, 1)]))).transfer.flows == 2


def test_transfers_of_several_hosts_one_after_another_are_refused(tmp_path: Path) -> None:
    found = frames("sender")
    near, far = found[0][1][12:16], b"\x0a\x00\x00\x09"
    for seconds in (0.5, 12):
        other = [
            (nanos + int(1e9 * seconds), changed(packet, 16 if packet[12:16] == near else 12, far), size)
            for nanos, packet, size in found
        ]
        (tmp_path / "link.pcap").write_bytes(pcap(sorted([*found, *other])))
        if seconds < 1:
            assert len(recorded([tmp_path / "link.pcap"]).hosts) == 2
        else:
            with pytest.raises(ValueError, match="2 transfers, not all of them at once: give one of them"):
                recorded([tmp_path / "link.pcap"])


def test_loss_ratio_of_several_transfers_is_that_of_all_segments(tmp_path: Path) -> None:
    contents, sent = [], 0
    for side, found in SIDES.items():
        brief = on_port(found[: len(found) * 85 // 100], 999)
        contents.append(pcap(sorted([*found, *brief])))
        sent += sum(size - 52 for _, _, size in filter(is_data, [*found, *brief])) if side == "sender" else 0
    (measurement,) = read(tmp_path, *contents)
    metrics = measurement.metrics
    assert metrics["path_loss_ratio"] == pytest.approx(metrics["retransmits"] * 1448 / sent, rel=1e-3)


def test_bytes_that_arrive_twice_are_counted_once(tmp_path: Path) -> None:
    found = frames("receiver")
    again = [(nanos + 10**7, packet, size) for nanos, packet, size in filter(is_data, found[::8])]
    twice = pcap(sorted([*found, *again]))
    assert one(tmp_path, twice).metrics["goodput"] == one(tmp_path, pcap(found)).metrics["goodput"]
    (both,) = read(tmp_path, pcap(frames("sender")), twice)
    require_same(both, both_sides())


def test_different_transfers_are_refused(tmp_path: Path) -> None:
    other = [
        (nanos, changed(changed(packet, 20, packet[22:24]), 22, b"\x10\x10"), size)
        for nanos, packet, size in frames("receiver")
    ]
    moved = [(nanos, changed(packet, 24, bytes([packet[24] ^ 0x55])), size) for nanos, packet, size in other]
    assert "captures of different transfers" in refusal(tmp_path, pcap(frames("sender")), pcap(moved))


def test_one_direction_is_refused(tmp_path: Path) -> None:
    text = refusal(tmp_path, pcap(list(filter(is_data, frames("sender")))))
    assert text.startswith("a capture of one direction, without the acknowledgements of 10.65.0.1")
    assert "record `tcpdump -i DEVICE" in text


def test_packets_that_were_missed_are_refused(tmp_path: Path) -> None:
    found = frames("sender")
    holes = [frame for number, frame in enumerate(found) if number % 40 or not is_data(frame)]
    assert "bytes were acknowledged that no packet in it has" in refusal(tmp_path, pcap(holes))
    assert refusal(tmp_path, pcapng(found, missed=900)).startswith("the system missed 900 packets")


def test_torn_file_is_refused(tmp_path: Path) -> None:
    assert "truncated packet at byte" in refusal(tmp_path, pcap(frames("sender"))[:-20])
    packed = gzip.compress(pcap(frames("sender")))
    assert "torn" in refusal(tmp_path, packed[: len(packed) // 2])


def test_device_in_a_bridge_is_refused(tmp_path: Path) -> None:
    twice = [frame for each in frames("sender") for frame in (each, (each[0] + 3000, each[1], each[2]))]
    assert refusal(tmp_path, pcap(twice)).startswith("each packet is in it twice")


def test_middle_of_a_transfer_is_read_if_the_queue_once_was_empty(tmp_path: Path) -> None:
    found = frames("sender")
    late = [frame for frame in found if frame[0] - found[0][0] > 2.5e9]
    text = refusal(tmp_path, pcap(late))
    assert text.startswith("begins in the middle of a transfer whose queue never was empty")
    once = one(tmp_path, pcap(paused(late)))
    assert once.transfer
    assert not once.transfer.exact


def paused(found: Sequence[Frame]) -> list[Frame]:
    """The same with a pause of a second in the middle, which is in the time stamps too."""
    middle, last, out = found[len(found) // 2][0], dict[bytes, int](), list[Frame]()
    for nanos, packet, size in found:
        own, echo = struct.unpack_from(">II", packet, 44)
        if nanos <= middle:
            last[packet[12:16]] = own
        else:
            stamps = struct.pack(">II", own + 1000, echo + 1000 * (echo > last[packet[16:20]]))
            nanos, packet = nanos + 10**9, changed(packet, 44, stamps)
        out.append((nanos, packet, size))
    return out


def test_pair_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    for last in (0.25, 0.6, 1.2):
        brief = [
            pcap([frame for frame in found if 2.5e9 < frame[0] - found[0][0] < (2.5 + last) * 1e9])
            for found in SIDES.values()
        ]
        assert "`tcpdump -i DEVICE" in refusal(tmp_path, *brief)


def without_stamps(found: Sequence[Frame]) -> list[Frame]:
    """The same with NOPs in place of the option."""
    return [
        (nanos, packet if packet[33] & 2 else changed(packet, 40, b"\x01" * 12), size) for nanos, packet, size in found
    ]


def test_receiver_without_time_stamps_is_refused(tmp_path: Path) -> None:
    bare = without_stamps(frames("receiver"))
    assert refusal(tmp_path, pcap(bare)).startswith("taken at the receiver, and without time stamps of TCP")
    sender = without_stamps(frames("sender"))
    assert summary(one(tmp_path, pcap(sender))) == pytest.approx(
        summary(one(tmp_path, pcap(frames("sender")))), rel=1e-4
    )


def test_window_of_the_receiver_is_told_from_the_link(tmp_path: Path) -> None:
    small = [
        (nanos, packet if is_data((nanos, packet, size)) else changed(packet, 34, b"\x00\x40"), size)
        for nanos, packet, size in frames("sender")
    ]
    assert refusal(tmp_path, pcap(small)).startswith("the receiver's window of 16384 bytes limited the transfer")


def test_other_traffic_alone_is_refused(tmp_path: Path) -> None:
    datagrams = [(nanos, changed(packet, 9, b"\x11"), size) for nanos, packet, size in frames("sender")]
    assert refusal(tmp_path, pcap(datagrams)).startswith("no TCP segment in its")
