"""Every diagnostic code of the verifier: its severity, what it says in a line, a paragraph of explanation, and an example that has it.

The parser's own codes stand in diagnostics.EXPLANATIONS; importing this module adds these to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .diagnostics import explain_codes


@dataclass(frozen=True, slots=True)
class Code:
    """One code; the example is a body's statements (inside) or the items of a module."""

    severity: Literal["error", "warning", "note"]
    summary: str
    explanation: str
    example: str
    inside: bool = True


def _error(summary: str, explanation: str, example: str, inside: bool = True) -> Code:
    return Code("error", summary, explanation, example, inside)


def _warning(summary: str, explanation: str, example: str, inside: bool = True) -> Code:
    return Code("warning", summary, explanation, example, inside)


def _note(summary: str, explanation: str, example: str, inside: bool = True) -> Code:
    return Code("note", summary, explanation, example, inside)


CODES: dict[str, Code] = {
    # ---------------------------------------------------------------- spelling
    "unknown-instruction": _error(
        "no instruction is called {opcode}",
        "PTX has no instruction whose name is the first word of this statement.",
        "load.u32 %r1, [%rd1];",
    ),
    "unknown-word": _error(
        "no instruction has a word .{word}",
        "No instruction of PTX has this word after its opcode.",
        "mov.u32.fast %r1, %r2;",
    ),
    "no-such-form": _error(
        "no form of {opcode} is spelled {spelling}",
        "The opcode and its words exist, but not in this combination: a word is missing, superfluous, or belongs to another type. "
        "The message shows the most similar forms; braces enclose optional words.",
        "add.sat.u32 %r1, %r2, %r3;",
    ),
    "word-order": _error(
        ".{word} belongs right after {opcode}",
        "The words after an opcode may come in any order, except that the words of the instruction's name (mul.lo, cvta.to, "
        "cp.async.bulk) come first, and that the layouts of mma, the state spaces of cp.async, and types keep their order.",
        "mul.s32.lo %r1, %r2, %r3;",
    ),
    "word-and-space": _error(
        ".{word} does not go with .{space}",
        "Memory orders (.volatile, .relaxed, .acquire, .release) apply to memory that threads share: .global, .shared and generic "
        "addresses. Eviction priorities, cache policies and prefetch sizes apply to .global and generic addresses.",
        "ld.volatile.local.u32 %r1, [%rd1];",
    ),
    "needs": _error(
        "{what} needs sm_{sm} and PTX {version}",
        "The instruction, one of its words, a special register or a directive requires a later PTX version or compute capability "
        "than the .version and .target of the module.",
        "elect.sync %r1|%p1, -1;",
    ),
    # ---------------------------------------------------------------- operands
    "operand-count": _error(
        "{spelling} has {n} operands, not {m}",
        "The number of operands differs from that of the form.",
        "add.u32 %r1, %r2;",
    ),
    "operand-type": _error(
        "{register} has type .{type}, which does not fit .{other}",
        "A register fits an instruction type of its own size if both are integers, both are the same "
        "floating-point type, or one of them is "
        "untyped (.b32). Loads, stores and cvt also take wider integer and untyped registers. Integer "
        "constants fit integer types, constants "
        "with a point fit .f32 and .f64; half precision has no constants.",
        "add.u32 %r1, %r2, %f1;",
    ),
    "operand-kind": _error(
        "{expected} is expected here, not {given}",
        "The operand is of the wrong kind: a register, a constant, an address, a predicate, a vector, a label. A result must be a "
        "register; '_' discards a result only where the manual allows it; only predicates can be negated.",
        "add.u32 5, %r2, %r3;",
    ),
    "vector-size": _error(
        "the vector has {n} elements where {m} are expected",
        "The number of elements between the braces differs from the number that .v2, .v4, the shape of the matrix or the type of a "
        "packing mov requires, or the access is wider than 128 bits.",
        "ld.global.v2.u32 {%r1}, [%rd1];",
    ),
    "special-register": _error(
        "{register} can be read by mov and cvt only",
        "Only mov, and cvt between integers, can read special registers. Those with components are read one component at a time.",
        "add.u32 %r1, %tid.x, 1;",
    ),
    "state-space": _error(
        "{variable} lies in .{space}, not in .{other}",
        "The instruction names one state space, but the variable lies in another. Without a state space, the address is generic: it "
        "may name .global, .shared and .local variables, but not parameters and constants.",
        "ld.shared.u32 %r1, [g];",
    ),
    "address-size": _error(
        "an address in global memory has 64 bits",
        "All supported targets have 64-bit addresses; only .shared, .local, .const and .param accept 32-bit registers.",
        "ld.global.u32 %r1, [%r2];",
    ),
    "out-of-range": _error(
        "{value} is not in the range {low} to {high}",
        "Some constants are fields of the instruction with few legal values: barrier numbers, copy sizes, bit positions.",
        "bar.sync 16;",
    ),
    # ---------------------------------------------------------------- calls
    "call-target": _error(
        "{target} cannot be called",
        "A call names a .func, or a register together with a .callprototype or a list of .calltargets.",
        "call %rd1;",
    ),
    "call-arity": _error(
        "{function} has {n} arguments, the call {m}",
        "The number of arguments or results of the call differs from the declaration of the function.",
        "call twice;",
    ),
    "call-argument": _error(
        "{argument} does not match the parameter {parameter}",
        "An argument must have the size of its parameter; it must be an integer if the parameter is one; and in .param space, it must "
        "have the same alignment and number of elements. Registers, constants and .param variables of the caller can be passed.",
        "call (%rd1), twice, (%r1);",
    ),
    # ---------------------------------------------------------------- the module
    "unknown-version": _error(
        "there is no PTX version {version}",
        "The known versions are 1.0-1.5, 2.0-2.3, 3.0-3.2, 4.0-4.3, 5.0-5.1, 6.0-6.5, 7.0-7.8, 8.0-8.8 and 9.0.",
        ".version 5.7\n.target sm_90\n",
        False,
    ),
    "newer-version": _note(
        "PTX {version} is newer than 9.0; what it added is not known here",
        "The module has the version of a later toolchain. It is read as PTX 9.0; ptxas 13.0 would reject it.",
        ".version 9.3\n.target sm_90\n",
        False,
    ),
    "newer-target": _note(
        "no model of compute capability {major}.{minor}: the model of {device} is used",
        "The module is verified for its own target, and runs on the newest device model.",
        ".version 8.7\n.target sm_100\n",
        False,
    ),
    "version-target": _error(
        "{target} needs PTX {version}",
        "The .version of the module is older than its .target.",
        ".version 7.0\n.target sm_90\n",
        False,
    ),
    "no-debug": _error(
        ".target debug requires .section .debug_..., which the module does not have",
        "The option debug requires DWARF sections.",
        ".version 9.0\n.target sm_90, debug\n",
        False,
    ),
    "unknown-target": _error(
        "there is no target {target}",
        ".target names an architecture, such as sm_90, sm_90a or sm_100f, and optionally debug, texmode_unified, "
        "texmode_independent or map_f64_to_f32.",
        ".version 9.0\n.target sm_91\n",
        False,
    ),
    "bad-target": _error(
        "{option} does not go with the rest of the module",
        "map_f64_to_f32 applies to targets without .f64.",
        ".version 9.0\n.target sm_90, map_f64_to_f32\n",
        False,
    ),
    "bad-pragma": _error(
        'the pragma "{text}" cannot stand here',
        "Pragmas other than nounroll belong in functions; some require a value after their name.",
        '.pragma "used_bytes_mask";',
    ),
    "bad-location": _error(
        "no .loc before this one says {file} {line} {column}, where its function was inlined",
        "The .loc of an inlined function names the position of the call, for which an earlier .loc must exist, and the name of the "
        "function, as a label in a .section.",
        ".loc 1 5 1, function_name $name, inlined_at 1 9 3",
    ),
    "target-mismatch": _error(
        "the module is for {target}, newer than {device}",
        "A module runs on devices of its target's compute capability and above. With the letter a, it runs only on devices of exactly "
        "that compute capability; with f, on devices of its family.",
        ".version 9.0\n.target sm_100\n",
        False,
    ),
    "bad-variable": _error(
        "{variable} cannot be declared like this",
        "The state space, type or linkage of the variable do not go together: handles and .common variables must lie in .global; .tex "
        "and constant banks exist only in old PTX versions.",
        ".const .texref t;",
        False,
    ),
    "too-much-const": _error(
        "the module has more than 65536 bytes of .const data",
        "All .const variables of a module together have at most 64 KiB.",
        ".const .b8 c[65537];",
        False,
    ),
    "too-much-shared": _error(
        "{entry} uses {n} bytes of static shared memory, 49152 are allowed",
        "A block has at most 48 KiB of statically declared shared memory (16 KiB on sm_1x), including that of called functions. The "
        "launch sets the size of an array `.extern .shared .b8 x[];`, which may be larger.",
        ".visible .entry e() { .shared .b8 tile[49153]; ret; }",
        False,
    ),
    "input-parameter": _error(
        "the parameter {parameter} is an input of {function} and cannot be written",
        "Parameters are read-only. A kernel returns results through pointers to global memory, a .func through its result parameters.",
        ".visible .entry e(.param .u32 p) { st.param.u32 [p], 1; ret; }",
        False,
    ),
    "output-parameter": _error(
        "the parameter {parameter} is a result of {function} and cannot be read",
        "A .func writes its result parameters and cannot read them back.",
        ".func (.param .u32 r) f() { .reg .u32 x; ld.param.u32 x, [r]; ret; }",
        False,
    ),
    "no-result": _error(
        "no call before this has {variable} as its result",
        "A .param variable of a body gets its value from a call that names it in the list before the function: call (result), f, "
        "(arguments). To read it without such a call makes ptxas crash.",
        "{ .param .b32 x; ld.param.b32 %r1, [x]; }",
    ),
    "bad-parameter": _error(
        "{parameter} cannot be declared like this",
        "Parameters in .param space are scalars or arrays. Only parameters of an .entry may have .ptr, and only the last parameter of a "
        ".func may be an open array. If there are several results, they are .reg.",
        ".func f(.param .u64 .ptr p) { ret; }",
        False,
    ),
    "too-many-parameters": _error(
        "{entry} has {n} bytes of parameters, {m} are allowed",
        "An .entry has at most 4352 bytes of parameters; from PTX 8.1 on, 32764 bytes for sm_70 and above.",
        ".visible .entry e(.param .b8 p[40000]) { ret; }",
        False,
    ),
    "conflicting-directives": _error(
        "{one} and {other} exclude each other",
        "Two directives of a function contradict each other.",
        ".visible .entry e() .reqnctapercluster 2 .maxclusterrank 4 { ret; }",
        False,
    ),
    "unresolved": _error(
        "{function} is declared and never defined",
        "A function or array that is not .extern must be defined in its module.",
        ".func f();",
        False,
    ),
    "bad-alias": _error(
        "{name} cannot be an alias of {target}",
        "An alias is a declared, undefined .func with the parameters of the defined .func that it stands for.",
        ".visible .func g() { ret; }\n.visible .func f() { ret; }\n.alias g, f;",
        False,
    ),
    # ---------------------------------------------------------------- warnings
    "unused-register": _warning(
        "{register} is declared and not used",
        "No instruction uses the register, which has a declaration of its own.",
        ".reg .u32 spare;",
    ),
    "never-written": _warning(
        "{register} is read here and never written",
        "An instruction reads a register that no instruction of the function writes; its value is undefined.",
        "add.u32 %r1, %r7, 1;",
    ),
    "read-first": _warning(
        "{register} may be read here before it is written",
        "On some path through the function, no instruction has written the register before this one reads it. In warplab its value is "
        "zero; on a GPU it is undefined.",
        "setp.eq.u32 %p1, 1, 1;\n@%p1 bra SKIP;\nadd.u32 %r1, %r2, 0;\nSKIP:\nadd.u32 %r2, %r1, 1;",
    ),
    "unreachable-code": _warning(
        "nothing leads to this instruction",
        "The instruction follows a branch, ret or exit, and no branch names a label before it.",
        "ret; mov.u32 %r1, 5;",
    ),
    "missing-return": _warning(
        "{function} can run to its end without ret or exit",
        "Execution can continue past the last instruction. That ends the function as ret does, but is rarely intended.",
        ".visible .entry e() { .reg .u32 %r1; mov.u32 %r1, 5; }",
        False,
    ),
    "divergent-barrier": _warning(
        "not all lanes reach this barrier together",
        "A barrier of the whole CTA lies on one side of a branch that depends on the thread's index. The threads on the other side do not "
        "arrive, and the kernel may wait forever. Move the barrier out of the branch, so that all threads execute it.",
        "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nbar.sync 0;\nSKIP:\nmov.u32 %r2, %r1;",
    ),
    "parameter-address": _warning(
        "{register} gets the address of the parameter {parameter}, not its value",
        "mov copies the address of a parameter; ld.param copies its value. Only cvta.param and ld.param have a use for the address.",
        ".visible .entry e(.param .u32 n) { .reg .u32 %r1; mov.u32 %r1, n; ret; }",
        False,
    ),
    "ignored-directive": _warning(
        "{directive} has no effect",
        ".minnctapersm has an effect only with .maxntid or .reqntid, which give the size of the CTAs.",
        ".visible .entry e() .minnctapersm 2 { ret; }",
        False,
    ),
    "unknown-pragma": _warning(
        'the pragma "{text}" is not known and has no effect',
        "The assembler ignores unknown pragmas.",
        '.pragma "unheard of";',
    ),
}

explain_codes(
    {word: f"{code.explanation}\n\nExample:\n\n    " + code.example.replace("\n", "\n    ").rstrip() for word, code in CODES.items()}
)
