"""The options of a run: those of `warplab run`, and the words of a `//@ run` comment."""

from __future__ import annotations

# option -> (field, "one" value, "many", a "flag", or a "word" that may stand alone; what the help says)
OPTIONS: dict[str, tuple[str, str, str]] = {
    "--kernel": ("kernel", "one", "The entry to launch, where there are several."),
    "--grid": ("grid", "one", "Blocks: 4 or 4,2 or 4,2,1."),
    "--block": ("block", "one", "Threads of a block."),
    "--arg": (
        "args",
        "many",
        "[in:|out:|inout:][name=]VALUE, in .param order or by name; VALUE is a number, null, @file.npy or DTYPE[SHAPE][:INIT].",
    ),
    "--tex": (
        "textures",
        "many",
        "NAME=VALUE[,filter=linear][,address=wrap/clamp][,normalized][,levels=all]...: a texture, of @picture.png, an array as in --arg, "
        "or another one's.",
    ),
    "--surf": ("surfaces", "many", "NAME=VALUE[,channels=4][,level=1]...: a surface, as --tex; what it holds has its name."),
    "--tensormap": (
        "tensor_maps",
        "many",
        "[out:]NAME=VALUE[,box=64/64][,swizzle=128][,fill=nan]...: a tensor map of an array as in --arg, or of another one's.",
    ),
    "--shared": ("shared", "one", "Bytes of dynamic shared memory."),
    "--cooperative": ("cooperative", "flag", "All blocks are resident together."),
    "--cluster": ("cluster", "one", "Blocks of a cluster."),
    "--set": ("symbols", "many", "SYMBOL=VALUE: a .global or .const variable before the launch."),
    "--expect": ("expect", "many", "A numpy expression that must hold, or NAME=@file.npy."),
    "--print": ("show", "many", "An expression to print, such as c[:8]."),
    "--dump": ("dump", "many", "NAME=FILE.npy or NAME=FILE.png: writes a buffer to a file; FILE alone is named as the buffer."),
    "--rtol": ("rtol", "one", "Relative tolerance of ==."),
    "--atol": ("atol", "one", "Absolute tolerance of ==."),
    "--ulp": ("ulp", "one", "Tolerance of == in units in the last place."),
    "--device": ("device", "one", "The model to run on, such as sm_35 (sm_90); a size of memory may follow: sm_90:64M."),
    "--engine": (
        "engine",
        "one",
        "What runs the launches: numpy, native (machine code of this processor, extra `native`), or auto: what is faster.",
    ),
    "--schedule": ("schedule", "one", "A seed: another legal interleaving of lanes, warps and blocks."),
    "--poison": ("poison", "one", "A seed: registers, shared and local memory start as rubbish, not as zeros."),
    "--max-steps": ("max_steps", "one", "Ends the run after so many steps."),
    "--timeout": ("timeout", "one", "Ends the run after so many seconds."),
    "--sanitize": ("sanitize", "word", "Looks at the launches for faults: all, or memcheck, initcheck, racecheck, synccheck."),
    "--fmad": ("fmad", "one", "Products and sums that round once, as one multiply-add: none, f64 (default) or all, as ptxas does."),
}
