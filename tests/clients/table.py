"""The clients whose own tests run under `warplab exec`: what pip brings, and which of their tests concern a device."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Client:
    """One client. In `environment`, {cuda} is the folder of CUDA's packages, {run} a shell's word for the folder of the run."""

    name: str
    package: str  # whose version the page shows
    packages: tuple[str, ...]  # what pip installs
    files: tuple[str, ...]  # of tests, in the folder `tests`
    source: str = ""  # the requirement whose source distribution has the tests; without one they are beside this file
    tests: str = ""  # the folder of the tests in the source distribution
    environment: dict[str, str] = field(default_factory=dict)
    building: dict[str, str] = field(default_factory=dict)  # variables without which the source distribution does not unpack
    options: tuple[str, ...] = ()  # of pytest
    devices: int = 1
    least: float = 100  # percentage of passed tests, of those that need no missing library
    needs: dict[str, str] = field(default_factory=dict)  # a word of a failure's text -> the library without PTX that is missing


CUPY = """
core_tests: test_ndarray test_elementwise test_userkernel test_raw test_ndarray_reduction test_reduction test_scan test_cub_reduction
    test_ndarray_elementwise_op test_ndarray_indexing test_ndarray_adv_indexing test_ndarray_scatter test_ndarray_math test_ndarray_ufunc
    test_ndarray_unary_op test_ndarray_copy_and_view test_ndarray_conversion test_ndarray_complex_ops test_function test_ufunc_methods
    test_iter test_mdspan test_structured test_core test_ndarray_get
sorting_tests: test_sort test_search test_count
math_tests: test_sumprod test_arithmetic test_explog test_floating test_hyperbolic test_rational test_rounding test_special test_trigonometric
creation_tests: test_basic test_from_data test_matrix test_ranges
binary_tests: test_elementwise test_packing
indexing_tests: test_generate test_indexing test_insert test_iterate
logic_tests: test_comparison test_content test_ops test_truth test_type_test
manipulation_tests: test_add_remove test_basic test_dims test_join test_kind test_rearrange test_shape test_split test_tiling test_transpose
statistics_tests: test_histogram test_meanvar test_order
padding_tests: test_pad
functional_tests: test_piecewise test_vectorize
cuda_tests: test_memory test_stream test_graph test_device test_driver test_runtime test_texture test_pinned_memory test_compiler test_nvrtc
"""


def _paths(text: str) -> tuple[str, ...]:
    out = []
    folder = ""
    for word in text.split():
        if word.endswith(":"):
            folder = word[:-1]
        else:
            out.append(f"{folder}/{word}.py")
    return tuple(out)


CLIENTS = (
    Client(
        "cupy", "cupy-cuda13x", ("cupy-cuda13x[ctk]", "pytest", "hypothesis"), _paths(CUPY), "cupy", "tests/cupy_tests",
        building={"CUPY_INSTALL_USE_STUB": "1"}, options=("-m", "not slow", "-k", "not 32BitBoundary and not Int32Max"), devices=2, least=97,
        needs={"CURAND": "cuRAND", "CUBLAS": "cuBLAS", "CUFFT": "cuFFT", "CUSOLVER": "cuSOLVER", "CUSPARSE": "cuSPARSE"},
    ),
    # the last release whose source distribution has the tests; its own search takes the folder of the run by the name of the file
    Client(
        "tinygrad", "tinygrad", ("tinygrad==0.12.0", "torch", "pytest", "hypothesis", "nvidia-cuda-nvrtc"), ("test_ops.py", "test_tiny.py", "test_dtype_alu.py"),
        "tinygrad==0.12.0", "test",
        least=98,
        environment={"CUDA": "1", "CI": "1", "CUDA_PATH": "{run}/libcuda.so.1", "NVRTC_PATH": "{cuda}/lib/libnvrtc.so.13"},
    ),
    Client("triton", "triton", ("triton", "numpy", "pytest"), ("triton_tutorials.py", "triton_launches.py"), environment={"TRITON_DEFAULT_FP_FUSION": "1"}),
)  # fmt: skip
