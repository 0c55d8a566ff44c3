"""Random small traces: the program beside a plain reference that counts instants."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_traces import agree


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_figures_agree_with_the_reference(random):
    agree(random)
