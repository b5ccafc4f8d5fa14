"""The capacity of a fleet, against figures worked out by hand."""

from dataclasses import replace
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.settings_checks import StoreDtype
from benchmarks.capacity.capacity_report import capacity_report
from benchmarks.capacity.che_approximation import hit_rate
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import shape_of
from memory_engine.errors import SettingsError
from tests.benchmarks.capacity.report_builder import the_rates

SHAPE = shape_of("llama-8b")
A_TOKEN = 131_072
STORES: tuple[StoreDtype, ...] = ("auto", "fp8")
# 10 messages a second, 600 users talking.
FLEET = FleetDemand(users=172_800, messages=5, facts=20, tokens=10, arena_gib=10, host_gib=20)


def test_bytes_are_tokens_times_the_bytes_of_one() -> None:
    report = capacity_report(FLEET, SHAPE, the_rates())
    assert report["bytes"]["a_fact"] == 10 * A_TOKEN
    assert report["bytes"]["a_user"] == 200 * A_TOKEN
    assert report["bytes"]["fleet"] == 172_800 * 200 * A_TOKEN
    assert report["engine"]["users"] == {
        "device": (10 << 30) // (200 * A_TOKEN),
        "host": (20 << 30) // (200 * A_TOKEN),
        "disk": 0,
    }


def test_the_device_has_what_weights_and_cache_leave_of_it() -> None:
    report = capacity_report(FleetDemand(facts=20, tokens=10), SHAPE, the_rates())
    cache = 64 * (200 + 128) * A_TOKEN
    left = int(100 * 2**30 * 0.88) - SHAPE.weight_bytes - cache
    assert report["engine"]["bytes"]["device"] == left
    assert report["engine"]["bytes"]["host"] == 100 << 30


def test_engines_are_counted_for_every_demand_alone() -> None:
    rates = the_rates()
    report = capacity_report(FLEET, SHAPE, rates)
    needed, users = report["engines_needed"], report["engine"]["users"]
    text_s = rates.busy_ms("text", 200, 128) / 1000
    at_hand = users["device"] + users["host"]
    assert needed["text"] == ceil(10 * text_s / 0.7)
    assert needed["talking_on_device"] == ceil(600 / users["device"])
    assert needed["talking_at_hand"] == ceil(600 / at_hand)
    assert needed["all_at_hand"] == ceil(172_800 / at_hand)
    assert needed["all_on_disk"] is None
    together = ("messages_as_kv", "encoding", "talking_at_hand")
    assert report["engines"] == needed["kv"] == max(needed[name] for name in together)


def test_who_comes_back_after_their_kv_is_gone_is_text_once_and_encoded_again() -> None:
    report = capacity_report(replace(FLEET, engines=4), SHAPE, the_rates())
    load, users = report["load"], report["engine"]["users"]
    held = hit_rate(172_800, 0.6, 4 * (users["device"] + users["host"]))
    assert load["held_at_opening"] == pytest.approx(held, abs=1e-4)
    # One message of five opens a conversation.
    assert load["as_text"] == pytest.approx((1 - held) / 5, abs=1e-4)
    again = report["encoding"]["to_encode_per_s"]["again"]
    assert again == pytest.approx(2 * (1 - held) * 20, abs=0.01)
    assert report["encoding"]["utilization"] == pytest.approx((again + 2) / 4 / 100, abs=1e-3)


def test_time_to_first_token_is_what_was_measured_for_so_many_tokens() -> None:
    times = capacity_report(FLEET, SHAPE, the_rates())["ttft_ms"]
    assert times == {"text": 30.0, "device": 12.0, "host": 14.0, "disk": None}
    disk = FleetDemand(facts=20, tokens=10, arena_gib=1, host_gib=1, disk_gib=10, disk_gb_per_s=1)
    a_user_ms = 200 * A_TOKEN / 1e9 * 1000
    assert capacity_report(disk, SHAPE, the_rates())["ttft_ms"]["disk"] == pytest.approx(
        14 + a_user_ms, 1e-3
    )


def test_facts_beyond_k_are_held_and_not_sent() -> None:
    report = capacity_report(
        FleetDemand(facts=200, tokens=10, k=20, arena_gib=10), SHAPE, the_rates()
    )
    assert report["ttft_ms"]["text"] == 30.0
    assert report["bytes"]["a_user"] == 2000 * A_TOKEN


def test_new_facts_are_held_against_the_rate_beside_a_chat() -> None:
    encoding = capacity_report(FLEET, SHAPE, the_rates())["encoding"]
    assert encoding["to_encode_per_s"]["new"] == 2
    assert encoding["facts_per_s"] == {"alone": 500, "beside_chat": 100}
    assert encoding["a_user_s"] == {"alone": 0.04, "beside_chat": 0.2}


def test_what_an_engine_held_is_encoded_again_by_the_others() -> None:
    report = capacity_report(replace(FLEET, engines=5), SHAPE, the_rates())
    talking = 600 / 5 * 20
    assert report["encoding"]["after_loss_s"]["talking"]["beside_chat"] == talking / 100 / 4


def test_overload_has_no_waiting_time() -> None:
    crowd = FleetDemand(users=10_000_000, facts=20, tokens=10, arena_gib=10, engines=1)
    arms = capacity_report(crowd, SHAPE, the_rates())["load"]["arms"]
    assert arms["text"]["wait_ms"] is None
    assert arms["text"]["utilization"] > 1


def test_a_model_that_does_not_fit_is_refused_with_what_to_do() -> None:
    with pytest.raises(SettingsError, match="raise --tensor-parallel"):
        capacity_report(FleetDemand(), shape_of("llama-70b"), the_rates())
    with pytest.raises(SettingsError, match="does not hold one user"):
        capacity_report(
            FleetDemand(facts=5000, tokens=40, arena_gib=1, host_gib=0), SHAPE, the_rates()
        )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("users", 0),
        ("pause", 0.0),
        ("learnt", -1.0),
        ("utilization", 1.0),
        ("conversation", 0.5),
        ("store", "int4"),
        ("host_gib", -1.0),
    ],
)
def test_numbers_that_cannot_work_name_their_option(field: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"--{field.replace('_', '-')}"):
        FleetDemand(**{field: value})


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 10**7),
    st.integers(1, 300),
    st.integers(1, 100),
    st.sampled_from(STORES),
)
def test_more_users_never_need_fewer_engines_and_kv_never_takes_longer(
    users: int, facts: int, tokens: int, store: StoreDtype
) -> None:
    def needed(count: int) -> dict[str, int]:
        fleet = FleetDemand(users=count, facts=facts, tokens=tokens, store=store, arena_gib=60)
        report = capacity_report(fleet, SHAPE, the_rates())
        assert report["ttft_ms"]["device"] <= report["ttft_ms"]["text"]
        engines: dict[str, int] = report["engines_needed"]
        return engines

    fewer, more = needed(users), needed(2 * users)
    assert all(fewer[name] <= more[name] for name in ("text", "kv", "encoding", "all_at_hand"))
