"""Results are equal to the last bit in every build: tests/digests has the scenarios, `make digests` all builds.

`make digests RECORD=1` records a change of results; its commit message explains it.
"""

import pytest
from digests import builds, points, recorded, runs
from digests.builds import Build

ORDERS = points.orders()


def test_a_release_build_comes_to_what_is_recorded() -> None:
    assert {name: runs.digest(runs.installed(order)) for name, order in ORDERS.items()} == recorded()


@pytest.mark.timeout(900)  # a build from scratch
@pytest.mark.parametrize("build", [builds.DEBUG, builds.V3, builds.arm()], ids=lambda build: build.name)
def test_other_builds_come_to_the_same(build: Build) -> None:
    if build is not builds.DEBUG and not build.made:
        pytest.skip(f"{build.name}: `make digests` builds and checks it, and from then on this test does")
    answers = runs.by_program(build.make(), ORDERS.values())
    assert dict(zip(ORDERS, map(runs.digest, answers), strict=True)) == recorded()


def test_slices_and_the_account_make_no_difference() -> None:
    orders = {name: {**order, "slices": 57, "accounted": True} for name, order in ORDERS.items()}
    assert {name: runs.digest(runs.installed(order)) for name, order in orders.items()} == recorded()
