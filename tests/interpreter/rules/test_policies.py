"""What the modifiers of loads, stores and fences ask of L1."""

from warplab.interpreter.rules.policies import LoadPolicy, StorePolicy, empties_l1, load_policy, store_policy


def test_policies() -> None:
    assert load_policy(["ca"]) is load_policy(["nc"]) is load_policy(["acquire", "cta"]) is LoadPolicy.CACHE
    assert load_policy(["lu"]) is LoadPolicy.STREAM
    assert load_policy(["cv"]) is load_policy(["relaxed", "sys"]) is load_policy(["volatile"]) is LoadPolicy.BYPASS
    assert store_policy(["cg"]) is StorePolicy.KEEP
    assert empties_l1("ld", ["acquire", "gpu"]) and empties_l1("fence", ["sc", "sys"]) and empties_l1("membar", ["sys"])
    assert not empties_l1("membar", ["cta"]) and not empties_l1("st", ["release", "gpu"])
