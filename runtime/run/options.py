"""The options of a run: those of `warplab run`, and the words of a `//@ run` comment."""

from __future__ import annotations

from warplab.interpreter.checkers.tools import NAMES

# option -> (field, "one" value, "many", a "flag", or a "word" that may stand alone; what the help says)
OPTIONS: dict[str, tuple[str, str, str]] = {
    "--kernel": ("kernel", "one", "The entry to launch, if there are several."),
    "--grid": ("grid", "one", "Blocks of the grid: 4 or 4,2 or 4,2,1."),
    "--block": ("block", "one", "Threads per block, in the same form."),
    "--arg": (
        "args",
        "many",
        "[in:|out:|inout:][name=]VALUE, in the order of the parameters or by name. VALUE is a number, null, @file.npy or DTYPE[SHAPE][:INIT].",
    ),
    "--tex": (
        "textures",
        "many",
        "NAME=VALUE[,filter=linear][,address=wrap/clamp][,normalized][,levels=all]...: a texture of @picture.png, of an array as in --arg, "
        "or of the array of another texture or surface.",
    ),
    "--surf": ("surfaces", "many", "NAME=VALUE[,channels=4][,level=1]...: a surface, in the form of --tex; --expect and --print use NAME."),
    "--tensormap": (
        "tensor_maps",
        "many",
        "[out:]NAME=VALUE[,box=64/64][,swizzle=128][,fill=nan]...: a tensor map of an array as in --arg, or of another map's array.",
    ),
    "--shared": ("shared", "one", "Bytes of dynamic shared memory."),
    "--cooperative": ("cooperative", "flag", "All blocks are resident together."),
    "--cluster": ("cluster", "one", "Blocks per cluster."),
    "--set": ("symbols", "many", "SYMBOL=VALUE: sets a .global or .const variable before the launch."),
    "--expect": ("expect", "many", "A numpy expression that must hold, or NAME=@file.npy."),
    "--print": ("show", "many", "An expression to print, such as c[:8]."),
    "--dump": ("dump", "many", "NAME=FILE.npy or NAME=FILE.png: writes a buffer to a file; FILE.png alone writes the buffer of that name."),
    "--rtol": ("rtol", "one", "Relative tolerance of ==."),
    "--atol": ("atol", "one", "Absolute tolerance of ==."),
    "--ulp": ("ulp", "one", "Tolerance of == in units in the last place."),
    "--device": ("device", "one", "The device model, such as sm_35 (default: sm_90), optionally with a memory size: sm_90:64M."),
    "--device-rules-only": (
        "device_rules_only",
        "flag",
        "Also runs code for newer devices, under the limits and memory rules of the device.",
    ),
    "--l1": ("l1", "one", "The size of the L1 cache on devices where the host chooses how L1 and shared memory share one memory: 16K."),
    "--banks": ("banks", "one", "Bytes of a word in a bank of shared memory on devices of 3.x: 4 (default) or 8."),
    "--engine": (
        "engine",
        "one",
        "The engine that executes launches: numpy, native (machine code of this processor, extra `native`), or auto (the faster one).",
    ),
    "--threads": (
        "threads",
        "one",
        "Threads of this machine that a launch may run on if its blocks do not depend on each other (default: all cores).",
    ),
    "--schedule": ("schedule", "one", "A seed that chooses another legal interleaving of lanes, warps and blocks."),
    "--schedules": ("schedules", "one", "Also runs this number of seeds, and shows the first one whose outcome differs."),
    "--poison": ("poison", "one", "A seed: fills registers, shared and local memory with garbage instead of zeros."),
    "--max-steps": ("max_steps", "one", "Ends the run after this number of steps."),
    "--timeout": ("timeout", "one", "Ends the run after this number of seconds."),
    "--sanitize": (
        "sanitize",
        "word",
        f"Runs the launches under checkers: all, some of {NAMES}, or none.",
    ),
    "--strict": (
        "strict",
        "flag",
        "Under checkers, what CUDA C++ leaves undefined is an error, even where PTX defines it.",
    ),
    "--on-error": (
        "on_error",
        "one",
        "Under checkers, what follows a launch that ends in a device error: stop (default) or continue with the next launch.",
    ),
    "--fmad": ("fmad", "one", "Which products and sums become one multiply-add: all (default), as by ptxas; f64; or none."),
}

# Of a whole run, however many launches it has; all others are of a launch.
OF_A_RUN = frozenset(
    "device device_rules_only l1 banks engine threads schedule schedules poison max_steps timeout fmad sanitize strict on_error".split()
)
TOLERANCES = frozenset({"rtol", "atol", "ulp"})
