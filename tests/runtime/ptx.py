"""Small kernels for the host's tests; nothing of warplab is needed to read them."""

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNELS = (
    HEAD
    + """
.global .align 4 .u32 counter = 5;
.const .align 8 .f64 factor = 2.5;
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p bra DONE;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd1, %rd1, %rd4;
    add.u64 %rd2, %rd2, %rd4;
    add.u64 %rd3, %rd3, %rd4;
    ld.global.u32 %r2, [%rd1];
    ld.global.u32 %r3, [%rd2];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
DONE:
    ret;
}
.visible .entry poke(.param .u64 at, .param .u32 value)
{
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [at];
    ld.param.u32 %r, [value];
    st.global.u32 [%rd], %r;
    ret;
}
.visible .entry bounded(.param .u64 at) .maxntid 128, 1, 1
{
    ret;
}
.visible .entry fixed() .reqntid 32, 2, 1
{
    ret;
}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared_size(.param .u64 out)
{
    .shared .align 4 .b8 own[1024];
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    mov.u32 %r, own;
    mov.u32 %r, %total_smem_size;
    st.global.u32 [%rd], %r;
    mov.u32 %r, dynamic;
    st.global.u32 [%rd+4], %r;
    ret;
}
"""
)
BOTH = (
    KERNELS
    + """
.visible .global .attribute(.managed) .align 4 .u32 both = 40;
.visible .entry clustered() .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry ranked() .maxclusterrank 4 { ret; }
.visible .entry least() .maxntid 256 .minnctapersm 4 { ret; }
.visible .entry local(.param .u64 out, .param .u32 n)
{
    .local .align 8 .b8 mine[400];
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, mine;
    add.u64 %rd3, %rd3, %rd2;
    st.local.u32 [%rd3], %r1;
    ld.local.u32 %r2, [mine+8];
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry mixed(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d, .param .f64 e) { ret; }
.visible .entry barred() { bar.sync 3; ret; }
"""
)
ASSERTS = (
    HEAD
    + """
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 what[7] = {120, 32, 62, 32, 51, 0, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 where[9] = {118, 111, 105, 100, 32, 107, 40, 41, 0};
.visible .entry k(.param .u32 step)
{
    .reg .pred %p;
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [step];
    rem.u32 %r1, %r1, %r2;
    setp.ne.u32 %p, %r1, 0;
    @%p bra DONE;
    mov.u64 %rd1, what; mov.u64 %rd2, file; mov.u64 %rd3, where;
    cvta.global.u64 %rd1, %rd1; cvta.global.u64 %rd2, %rd2; cvta.global.u64 %rd3, %rd3;
    {
    .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 12; st.param.b64 [p3], %rd3; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
    }
DONE:
    ret;
}
"""
)
PRINTS = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 form[8] = {104, 105, 32, 37, 100, 10, 0, 0};
.visible .entry k(.param .u32 start)
{
    .local .align 8 .b8 args[8];
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    mov.u64 %rd1, form;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, args;
    cvta.local.u64 %rd2, %rd2;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [start];
    add.u32 %r1, %r1, %r2;
    st.local.u32 [args], %r1;
    {
    .param .b64 p; .param .b64 q; .param .b32 s;
    st.param.b64 [p], %rd1; st.param.b64 [q], %rd2;
    call.uni (s), vprintf, (p, q);
    }
    ret;
}
"""
)
TWICE = (
    HEAD
    + ".visible .func (.param .b32 r) twice(.param .b32 x)\n"
    + "{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }"
)
CALLS_TWICE = HEAD + (
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [p];\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21;"
    "call (b), twice, (a); ld.param.b32 %r, [b]; } st.global.u32 [%rd], %r; ret; }"
)


def ends_with(body: str, target: str = "sm_90") -> str:
    """A kernel k(p) that does one thing to the pointer it gets."""
    return (
        f".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;\n"
        f"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p]; {body}\nret; }}"
    )
