"""What CUDA C, NVIDIA's machine code and other assemblers call things, and what PTX calls them: the one table behind all advice about such words.

`in_ptx` is asked about a word that is no PTX; it answers for names, calls, keywords and opcodes in any case.
"""

from __future__ import annotations

TYPES = {
    "int": "s32", "signed": "s32", "unsigned": "u32", "uint": "u32", "float": "f32", "double": "f64", "half": "f16", "__half": "f16",
    "long": "s64", "size_t": "u64", "short": "s16", "ushort": "u16", "char": "s8", "uchar": "u8", "byte": "u8", "bool": "pred",
    "int8_t": "s8", "int16_t": "s16", "int32_t": "s32", "int64_t": "s64", "uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32",
    "uint64_t": "u64", "i8": "s8", "i16": "s16", "i32": "s32", "i64": "s64", "ulong": "u64",
}  # fmt: skip
# Words of instructions, behind a dot.
WORDS = TYPES | {"gte": "ge", "lte": "le", "neq": "ne", "low": "lo", "high": "hi", "constant": "const"}

VECTORS = {"threadIdx": "%tid", "blockIdx": "%ctaid", "blockDim": "%ntid", "gridDim": "%nctaid", "clusterIdx": "%clusterid"}
NAMES = {
    **VECTORS, "warpSize": "WARP_SZ", "clock": "mov.u32 with %clock", "clock64": "mov.u64 with %clock64", "__activemask": "activemask.b32",
    "__syncthreads": "bar.sync 0", "__syncthreads_count": "bar.red.popc.u32", "__syncthreads_and": "bar.red.and.pred",
    "__syncthreads_or": "bar.red.or.pred", "__syncwarp": "bar.warp.sync -1", "syncthreads": "bar.sync 0", "syncwarp": "bar.warp.sync -1",
    "__threadfence": "membar.gl", "__threadfence_block": "membar.cta", "__threadfence_system": "membar.sys",
    "atomicAdd": "atom.global.add.u32", "atomicSub": "atom.global.add.u32 of the negative", "atomicMax": "atom.global.max.s32",
    "atomicMin": "atom.global.min.s32", "atomicAnd": "atom.global.and.b32", "atomicOr": "atom.global.or.b32",
    "atomicXor": "atom.global.xor.b32", "atomicExch": "atom.global.exch.b32", "atomicCAS": "atom.global.cas.b32",
    "atomicInc": "atom.global.inc.u32", "atomicDec": "atom.global.dec.u32",
    "__shfl_sync": "shfl.sync.idx.b32", "__shfl_up_sync": "shfl.sync.up.b32", "__shfl_down_sync": "shfl.sync.down.b32",
    "__shfl_xor_sync": "shfl.sync.bfly.b32", "__ballot_sync": "vote.sync.ballot.b32", "__any_sync": "vote.sync.any.pred",
    "__all_sync": "vote.sync.all.pred", "__match_any_sync": "match.any.sync.b32", "__match_all_sync": "match.all.sync.b32",
    "__reduce_add_sync": "redux.sync.add.s32", "__reduce_min_sync": "redux.sync.min.s32", "__reduce_max_sync": "redux.sync.max.s32",
    "__popc": "popc.b32", "__popcll": "popc.b64", "__clz": "clz.b32", "__clzll": "clz.b64", "__brev": "brev.b32", "__brevll": "brev.b64",
    "__byte_perm": "prmt.b32", "__mulhi": "mul.hi.s32", "__umulhi": "mul.hi.u32", "__mul24": "mul24.lo.s32", "__sad": "sad.s32",
    "__dp4a": "dp4a.s32.s32", "__funnelshift_l": "shf.l.wrap.b32", "__funnelshift_r": "shf.r.wrap.b32",
    "fma": "fma.rn.f64", "fmaf": "fma.rn.f32", "__fmaf_rn": "fma.rn.f32", "__fadd_rn": "add.rn.f32", "__fmul_rn": "mul.rn.f32",
    "__fdividef": "div.approx.f32", "__fdiv_rn": "div.rn.f32", "sqrtf": "sqrt.rn.f32", "rsqrtf": "rsqrt.approx.f32",
    "__frcp_rn": "rcp.rn.f32", "fabsf": "abs.f32", "fabs": "abs.f64", "fminf": "min.f32", "fmaxf": "max.f32",
    "__sinf": "sin.approx.f32", "__cosf": "cos.approx.f32", "__log2f": "lg2.approx.f32", "exp2f": "ex2.approx.f32",
    "__expf": "ex2.approx.f32 of the argument times log2(e)", "expf": "ex2.approx.f32 of the argument times log2(e)",
    "__logf": "lg2.approx.f32, then a multiplication by ln(2)", "logf": "lg2.approx.f32, then a multiplication by ln(2)",
    "__int_as_float": "mov.b32", "__float_as_int": "mov.b32", "__uint_as_float": "mov.b32", "__float_as_uint": "mov.b32",
    "__int2float_rn": "cvt.rn.f32.s32", "__float2int_rz": "cvt.rzi.s32.f32", "__float2half": "cvt.rn.f16.f32", "__half2float": "cvt.f32.f16",
    "__ldg": "ld.global.nc", "__nanosleep": "nanosleep.u32", "__trap": "trap", "__brkpt": "brkpt", "assert": "a branch over trap",
    "printf": "a call of vprintf", "__global__": ".visible .entry", "__device__": ".func, or .global for a variable", "__shared__": ".shared",
    "__constant__": ".const", "__restrict__": "ld.global.nc, where it matters", "__launch_bounds__": ".maxntid and .minnctapersm",
    "return": "ret", "goto": "bra", "break": "bra to a label behind the loop", "continue": "bra to the label of the loop",
    "true": "1", "false": "0", "switch": "brx.idx, or a setp and a guarded bra for each case",
}  # fmt: skip
# Other assemblers' opcodes, and those of NVIDIA's machine code that PTX names otherwise.
OPCODES = {
    "load": "ld", "store": "st", "jmp": "bra", "jump": "bra", "br": "bra", "b": "bra", "branch": "bra", "cmp": "setp", "compare": "setp",
    "halt": "exit", "move": "mov", "sll": "shl", "srl": "shr", "sar": "shr", "lea": "mov", "fadd": "add.f32", "fsub": "sub.f32",
    "fmul": "mul.f32", "ffma": "fma.rn.f32", "dadd": "add.f64", "dmul": "mul.f64", "dfma": "fma.rn.f64", "iadd": "add.s32",
    "iadd3": "add.s32, twice", "imul": "mul.lo.s32", "imad": "mad.lo.s32", "inc": "add", "dec": "sub", "mod": "rem",
    "nop": "no statement at all", "select": "selp", "sel": "selp", "shuffle": "shfl.sync", "atomic": "atom", "barrier_sync": "bar.sync 0",
    "sync": "bar.sync 0", "s2r": "mov.u32 with a special register", "ldg": "ld.global", "stg": "st.global", "lds": "ld.shared",
    "sts": "st.shared", "ldl": "ld.local", "stl": "st.local", "ldc": "ld.const or ld.param", "isetp": "setp.lt.s32",
    "fsetp": "setp.lt.f32", "mufu": "rcp.approx.f32, sin.approx.f32 and their like", "i2f": "cvt.rn.f32.s32", "f2i": "cvt.rzi.s32.f32",
    "f2f": "cvt", "atomg": "atom.global", "atoms": "atom.shared", "shf": "shf.l.wrap.b32", "membar": "membar.gl", "warpsync": "bar.warp.sync",
}  # fmt: skip
STATEMENTS = dict.fromkeys(("if", "else", "for", "while", "do"), "setp and a guarded branch: setp.lt.s32 %p1, %r1, %r2; @%p1 bra LABEL;")


def in_ptx(word: str) -> str:
    """Advice about a word that PTX does not know: what says the same in PTX; "" where the table has nothing."""
    name = word.lstrip("%")
    if said := STATEMENTS.get(name):
        return f"PTX has no {name}: write {said}"
    if (type := TYPES.get(name)) is not None:
        return f"PTX has no {name}: a register is declared as .reg .{type} %x;"
    said = NAMES.get(name) or OPCODES.get(name.lower())
    return f"{name} is {said} in PTX" if said else ""


def component(word: str, part: str) -> str:
    """The same for a word with a component, such as threadIdx.x."""
    known = VECTORS.get(word.lstrip("%"))
    return f"{word}.{part} is {known}.{part} in PTX" if known else ""
