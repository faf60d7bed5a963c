"""The numbers that a discipline's program in the kernel gets."""

from __future__ import annotations

import pytest

from aqmlab._core import kernel_numbers

LINK = {"rate": 10e6, "packets": 200, "packet_size": 500}


def test_the_parameters_are_scaled_in_the_order_of_the_fields() -> None:
    found = kernel_numbers("lred:q0=20.5,ecn=true", LINK, "ecn:0: q0:16: period:0: mean_packet:0:")
    assert found == [1, 20.5 * 2**16, 10**9, 500]
    assert kernel_numbers("red:max_th=30,w_q=1", LINK, "min_th:8: w_q:4:") == [2560, 16]


@pytest.mark.parametrize(
    ("aqm", "message"),
    [
        ("lred:q0=-1", "q0 = -1: must be in [0, 1e9], packets"),
        ("lred:q0=5000", "q0 = 5000.0: must be at most 4096 in the kernel's program"),
        ("lred:beta=0.5", "beta = 0.5: must be at its default 0.001, since the kernel's program has no such parameter"),
        ("red:min_th=9,max_bytes=1kB", "min_th = 9: must be at most max_th, 2 packets of 500 bytes"),
    ],
)
def test_what_the_program_cannot_have_is_refused(aqm: str, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as error:
        kernel_numbers(aqm, LINK, "q0:16:4096")
    assert str(error.value) == message
