"""The clients whose own tests run under `warplab exec`: what pip brings, and which of their tests concern a device."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Client:
    """One client. In `environment`, {cuda} is the folder of CUDA's packages, {run} a shell's word for the folder of the run."""

    name: str
    package: str  # whose version the page shows
    packages: tuple[str, ...]  # what pip installs
    files: tuple[str, ...]  # of tests, in the folder `tests`, or modules that are installed
    source: str = ""  # the requirement whose source distribution has the tests; without one they are beside this file, or modules
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
NUMBA = """
cudadrv: test_array_attr test_context_stack test_cuda_array_slicing test_cuda_auto_context test_cuda_devicerecord test_cuda_driver
    test_cuda_memory test_cuda_ndarray test_deallocations test_detect test_emm_plugins test_events test_host_alloc test_init
    test_inline_ptx test_is_fp16 test_linkable_code test_linker test_managed_alloc test_module_callbacks test_nvjitlink test_nvrtc
    test_nvvm_driver test_pinned test_profiler test_reset_device test_runtime test_select_device test_streams
cudapy: test_alignment test_analysis test_array test_array_alignment test_array_args test_array_methods test_array_reductions test_atomics
    test_bfloat16 test_bfloat16_bindings test_blackscholes test_boolean test_byteflow test_cache_hints test_caching test_casting test_cffi
    test_compiler test_complex test_complex_kernel test_const_string test_constmem test_cooperative_groups test_copy_propagate
    test_cuda_array_interface test_cuda_jit_no_types test_cupy_bfloat16_interop test_datetime test_debug test_debuginfo
    test_debuginfo_types test_device_array_capture test_device_func test_dispatcher test_enums test_errors test_exception test_extending
    test_extending_types test_fastmath test_flow_control test_forall test_fp8_bindings test_freevar test_frexp_ldexp test_globals
    test_gufunc test_gufunc_scalar test_gufunc_scheduling test_idiv test_inline test_inspect test_intrinsics test_ipc test_ir
    test_ir_utils test_iterators test_lang test_laplace test_launch_config_sensitive test_libdevice test_lineinfo test_localmem
    test_make_function_to_jit_function test_mandel test_math test_matmul test_minmax test_montecarlo test_multigpu test_multiprocessing
    test_multithreads test_nondet test_numba_interop test_operator test_optimization test_overload test_powi test_print test_py2_div_issue
    test_random test_record_dtype test_recursion test_reduction test_retrieve_autoconverted_arrays test_serialize test_slicing test_sm
    test_sm_creation test_ssa test_stream_api test_sync test_tracing test_transpose test_typeconv test_typeinfer test_ufuncs test_userexc
    test_vector_type test_vectorize test_vectorize_complex test_vectorize_decor test_vectorize_device test_vectorize_scalar_arg
    test_warning test_warp_ops
nrt: test_nrt test_nrt_refct
nocuda: test_cache_version test_dummyarray test_function_resolution test_import test_library_lookup test_nvvm
core: test_itanium_mangler test_serialize
doc_examples: test_cg test_cpointer test_cpu_gpu_compat test_ffi test_globals test_laplace test_matmul test_montecarlo test_random
    test_reduction test_sessionize test_ufunc test_vecadd
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
    # its tests are in its package; with the newest releases of the others that fit this one
    Client(
        "numba", "numba-cuda", ("numba-cuda[cu13]==0.30.4", "numba==0.63.*", "cuda-bindings==13.3.*", "pytest", "filecheck", "cffi", "ml_dtypes", "psutil"),
        tuple("numba.cuda.tests." + p.removesuffix(".py").replace("/", ".") for p in _paths(NUMBA)), least=98,
        # the test that is left out fills a tenth of the device's memory from the host
        options=("-p", "numba_fixtures", "-o", "consider_namespace_packages=true", "--pyargs", "-k", "not undersubscribe"),
    ),
    # neither package has its tests, nor has an archive of sources: these are ours
    Client("core", "cuda-core", ("cuda-core[cu13]", "numpy", "pytest"), ("core_programs.py", "core_memory.py", "core_graphs.py")),
    Client("bindings", "cuda-bindings", ("cuda-bindings[all]==13.*", "numpy", "pytest"), ("bindings_calls.py",)),
    # its tests are in its package; those that run on a device have its name
    Client(
        "warp", "warp-lang", ("warp-lang", "numpy", "pytest"),
        tuple(f"warp.tests.{n}" for n in "test_array test_atomic test_conditional test_func test_launch test_rand test_struct test_utils cuda.test_streams geometry.test_hash_grid".split()),
        least=80, options=("--pyargs", "-k", "cuda"),
    ),
    Client("triton", "triton", ("triton", "numpy", "pytest"), ("triton_tutorials.py", "triton_launches.py"), environment={"TRITON_DEFAULT_FP_FUSION": "1"}),
)  # fmt: skip
