"""Random accesses of some warps, for hypothesis."""

from hypothesis import strategies as st

WARPS = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 300), min_size=32, max_size=32), min_size=n, max_size=n),
        st.lists(st.lists(st.booleans(), min_size=32, max_size=32), min_size=n, max_size=n),
        st.sampled_from([1, 2, 4, 8, 16]),
    )
)
