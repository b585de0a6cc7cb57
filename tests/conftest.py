"""Property tests are judged by their results: a busy machine does not fail them."""

from hypothesis import HealthCheck, settings

settings.register_profile("warplab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warplab")
