"""What a launch costs before and behind its kernel, in calls of Python functions: they are as many on every machine."""

import json
import os
import subprocess
import sys

import pytest

MOST = 150
COUNTED = """
import ctypes, json, sys
import numpy as np
from tests.runtime.conftest import Host
from warplab.runtime.driver.api import current

host, calls, n = Host(), [], 1 << 12
host("cuInit", 0)
host("cuCtxSetCurrent", host("cuDevicePrimaryCtxRetain", 0))
options, f = current().options, host.function("add")
options.engine, options.threads = "native", 1

def count(frame, event, _):
    if event == "call":
        calls.append(frame.f_code.co_qualname)

for _ in range(3):
    arrays = [np.arange(n, dtype=np.uint32), np.full(n, 7, np.uint32), np.zeros(n, np.uint32)]
    at = [host.upload(a) for a in arrays]  # the kernel finds other allocations than before
    keep = [*map(ctypes.c_uint64, at), ctypes.c_uint32(n)]
    table = (ctypes.c_void_p * 4)(*[ctypes.addressof(k) for k in keep])
    calls.clear()
    sys.setprofile(count)
    host("cuLaunchKernel", f, n // 64, 1, 1, 64, 1, 1, 0, 0, ctypes.addressof(table), 0)
    host("cuCtxSynchronize")
    sys.setprofile(None)
    assert (host.download(at[2], arrays[2]) == arrays[0] + 7).all()
    options.engine = sys.argv[1]  # the code is there
assert current().used.numpy_blocks == 0
print(json.dumps(calls))
"""


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_a_launch_makes_few_calls(engine: str) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WARPLAB_") or k == "WARPLAB_CACHE"}
    environment = kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", COUNTED, engine], capture_output=True, text=True, env=environment, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    calls = json.loads(done.stdout)
    assert 0 < len(calls) <= MOST, calls
