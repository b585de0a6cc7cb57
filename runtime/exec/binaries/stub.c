/* What runs in the program: every exported function jumps to `entry` with its number, and the server says what happens then.

   Freestanding: no libc, no relocations, no thread-local storage.  The data block stands DISTANCE bytes behind `entry`.
   stub.py holds the machine code that this is compiled to (python -m tools.derive_stub), so that nobody needs a compiler. */

typedef unsigned int u32;
typedef unsigned long u64;

#define DISTANCE 0x80000
#define SLOTS 1024
#define DEAD 0xffffffffu /* a slot whose thread has ended */
#define AUDIT 0x7fffffff /* number of the request that follows the loading of objects */
#define ANSWER 0x7ffffffe /* number of the request that answers SYSCALL or CALL */
#define UNKNOWN 999 /* CUDA_ERROR_UNKNOWN: there is no server any more */

enum { RETURN, SYSCALL, CALL };

struct request { u32 number, tid; u64 registers[8], stack, result, floats[4], data; };
struct reply { u64 kind, target, arguments[6]; };
struct slot { u32 tid; int socket; };
struct data {
    u32 pid, changed, address_bytes;
    char address[116]; /* sockaddr_un */
    char path[128]; /* of this library */
    char names[128]; /* of the libraries that it stands for, each ended by zero; an empty one ends them */
    struct slot slots[SLOTS];
};

static long dispatch(struct request *);

#if defined(__x86_64__)
enum { CLOSE = 3, SENDTO = 44, RECVFROM = 45, SOCKET = 41, CONNECT = 42, GETPID = 39, GETTID = 186, TGKILL = 234 };
__asm__(".globl entry\nentry:\n"
        "push %rbp\nmov %rsp, %rbp\nand $-16, %rsp\nsub $128, %rsp\n"
        "mov %eax, (%rsp)\nmov %rdi, 8(%rsp)\nmov %rsi, 16(%rsp)\nmov %rdx, 24(%rsp)\nmov %rcx, 32(%rsp)\nmov %r8, 40(%rsp)\nmov %r9, 48(%rsp)\n"
        "lea 16(%rbp), %rax\nmov %rax, 72(%rsp)\n"
        "movq %xmm0, 88(%rsp)\nmovq %xmm1, 96(%rsp)\nmovq %xmm2, 104(%rsp)\nmovq %xmm3, 112(%rsp)\n"
        "mov %rsp, %rdi\ncall dispatch\nleave\nret\n");
static long system_call(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    register u64 r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return n;
}
#else
enum { CLOSE = 57, SENDTO = 206, RECVFROM = 207, SOCKET = 198, CONNECT = 203, GETPID = 172, GETTID = 178, TGKILL = 131 };
__asm__(".globl entry\nentry:\n" /* the number is in w16 */
        "stp x29, x30, [sp, #-144]!\nmov x29, sp\n"
        "str w16, [sp, #16]\nstp x0, x1, [sp, #24]\nstp x2, x3, [sp, #40]\nstp x4, x5, [sp, #56]\nstp x6, x7, [sp, #72]\n"
        "add x0, sp, #144\nstp x0, x8, [sp, #88]\nstp d0, d1, [sp, #104]\nstp d2, d3, [sp, #120]\n"
        "add x0, sp, #16\nbl dispatch\nldp x29, x30, [sp], #144\nret\n");
static long system_call(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    register long x8 __asm__("x8") = n;
    register u64 x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#endif

extern u64 entry[] __attribute__((visibility("protected")));
#define DATA ((struct data *)((char *)entry + DISTANCE))
#define sys(n, a, b, c, d, e, f) system_call(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))

/* A connection of this thread's own; those of threads that have ended are given back. */
static int connected(u32 tid) {
    struct data *d = DATA;
    int s = sys(SOCKET, 1, 5 | 02000000, 0, 0, 0, 0); /* AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC */
    if (s < 0 || sys(CONNECT, s, d->address, d->address_bytes, 0, 0, 0) < 0) return -1;
    for (u32 i = 0; i < SLOTS; i++) {
        struct slot *x = &d->slots[i];
        u32 seen = x->tid;
        if (seen && seen != DEAD && sys(TGKILL, d->pid, seen, 0, 0, 0, 0) < 0 && __sync_bool_compare_and_swap(&x->tid, seen, DEAD))
            sys(CLOSE, x->socket, 0, 0, 0, 0, 0);
    }
    for (u32 n = 0; n < SLOTS; n++) {
        struct slot *x = &d->slots[(tid + n) % SLOTS];
        u32 seen = x->tid;
        if ((!seen || seen == DEAD) && __sync_bool_compare_and_swap(&x->tid, seen, tid)) {
            x->socket = s;
            return s;
        }
    }
    return s;
}

static int connection(u32 tid) {
    struct data *d = DATA;
    u32 pid = sys(GETPID, 0, 0, 0, 0, 0, 0);
    if (d->pid != pid) { /* the first call, or a child's: the connections are its parent's */
        for (u32 i = 0; i < SLOTS; i++) {
            if (d->slots[i].tid && d->slots[i].tid != DEAD) sys(CLOSE, d->slots[i].socket, 0, 0, 0, 0, 0);
            d->slots[i].tid = 0;
        }
        d->pid = pid;
    }
    for (u32 n = 0; n < SLOTS; n++) {
        struct slot *x = &d->slots[(tid + n) % SLOTS];
        if (x->tid == tid) return x->socket;
        if (!x->tid) break;
    }
    return connected(tid);
}

static long exchange(int s, void *request, struct reply *reply) {
    long n;
    do n = sys(SENDTO, s, request, sizeof(struct request), 0x4000, 0, 0); /* MSG_NOSIGNAL */
    while (n == -4); /* EINTR */
    if (n < 0) return n;
    do n = sys(RECVFROM, s, reply, sizeof(struct reply), 0, 0, 0);
    while (n == -4);
    return n == sizeof(struct reply) ? 0 : -32; /* EPIPE */
}

__attribute__((used)) static long dispatch(struct request *r) {
    struct reply reply;
    u32 tid = r->tid = sys(GETTID, 0, 0, 0, 0, 0, 0);
    r->data = (u64)DATA;
    int s = connection(tid);
    if (exchange(s, r, &reply) < 0) { /* the launcher closes connections that it did not need: once more on a new one */
        for (u32 i = 0; i < SLOTS; i++)
            if (DATA->slots[i].tid == tid && __sync_bool_compare_and_swap(&DATA->slots[i].tid, tid, DEAD)) sys(CLOSE, s, 0, 0, 0, 0, 0);
        s = connected(tid);
        if (exchange(s, r, &reply) < 0) return UNKNOWN;
    }
    for (;;) {
        u64 *a = reply.arguments, result;
        if (reply.kind == RETURN) return reply.target;
        if (reply.kind == SYSCALL) result = system_call(reply.target, a[0], a[1], a[2], a[3], a[4], a[5]);
        else result = ((u64(*)(u64, u64, u64, u64, u64, u64))reply.target)(a[0], a[1], a[2], a[3], a[4], a[5]);
        struct request answer = {.number = ANSWER, .tid = tid};
        answer.registers[0] = result;
        if (exchange(s, &answer, &reply) < 0) return UNKNOWN;
    }
}

/* ------------------------------------------------ the dynamic loader's auditor, see rtld-audit(7) */

u32 la_version(u32 version) { return version; }

char *la_objsearch(char *name, u64 *cookie, u32 flag) {
    char *base = name;
    for (char *c = name; *c; c++)
        if (*c == '/') base = c + 1;
    for (char *known = DATA->names; *known; known++) {
        char *c = base;
        while (*known && *known == *c) known++, c++;
        if (!*known && !*c) return DATA->path;
        while (*known) known++;
    }
    return name;
}

u32 la_objopen(void *map, long space, u64 *cookie) {
    DATA->changed = 1;
    return 0;
}

void la_activity(u64 *cookie, u32 flag) {
    struct request r = {.number = AUDIT};
    if (flag || !DATA->changed) return; /* LA_ACT_CONSISTENT is 0 */
    DATA->changed = 0;
    dispatch(&r);
}
