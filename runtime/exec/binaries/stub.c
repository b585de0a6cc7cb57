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

#define DEPTH 8 /* launches that are being prepared at once */

enum { RETURN, SYSCALL, CALL };
enum { PUSH, POP, KERNEL, DEVICE, LAST, PEEK, LAUNCHES, KNOWN = LAUNCHES + 4 }; /* calls that are known here: KNOWN in library.py */

struct request { u32 number, tid; u64 registers[8], stack, result, floats[4], data; };
struct reply { u64 kind, target, arguments[6]; };
struct launch { u64 grid[2], block[2], shared, stream, place; };
struct thread { /* what the server lets a thread know, in memory that both see: local.py */
    u32 calm; /* no call has failed since the last error was asked for */
    int device; /* -1: unknown */
    u64 place; /* where the <<<>>> stands that was prepared last */
    u32 depth, over; /* launches that are being prepared: here, and more at the server */
    struct launch launches[DEPTH];
};
struct slot { u32 tid; int socket; struct thread *thread; };
struct data {
    u32 pid, changed, address_bytes;
    char address[116]; /* sockaddr_un */
    char path[128]; /* of this library */
    char names[128]; /* of the libraries that it stands for, each ended by zero; an empty one ends them */
    u32 known[KNOWN]; /* their numbers */
    struct slot slots[SLOTS];
};

static long dispatch(struct request *);

#if defined(__x86_64__)
#define RETURNS_TO(r) ((u64 *)(r)->stack)[-1]
#define WITH_STACK(r) r->registers[6] = ((u64 *)r->stack)[0], r->registers[7] = ((u64 *)r->stack)[1] /* the last two arguments */
#define CODE "lea entry(%%rip), %0"
enum { CLOSE = 3, SENDTO = 44, RECVFROM = 45, SOCKET = 41, CONNECT = 42, GETPID = 39, GETTID = 186, TGKILL = 234 };
__asm__(".globl entry\n.hidden entry\nentry:\n"
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
#define RETURNS_TO(r) ((u64 *)(r)->stack)[-17]
#define WITH_STACK(r) /* all arguments are in registers */
#define CODE "adr %0, entry"
enum { CLOSE = 57, SENDTO = 206, RECVFROM = 207, SOCKET = 198, CONNECT = 203, GETPID = 172, GETTID = 178, TGKILL = 131 };
__asm__(".globl entry\n.hidden entry\nentry:\n" /* the number is in w16 */
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

static struct data *data(void) { /* seen from the code: a compiler would keep the address in memory */
    char *code;
    __asm__(CODE : "=r"(code));
    return (struct data *)(code + DISTANCE);
}
#define DATA data()
#define sys(n, a, b, c, d, e, f) system_call(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))

/* A new connection of this thread's own, and its slot if there is one left; those of threads that have ended are given back. */
static int connected(u32 tid, struct slot **slot) {
    struct data *d = DATA;
    int s = sys(SOCKET, 1, 5 | 02000000, 0, 0, 0, 0); /* AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC */
    *slot = 0;
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
            x->thread = 0;
            *slot = x;
            return s;
        }
    }
    return s;
}

/* The slot of this thread; 0 if it has none yet. */
static struct slot *slot_of(u32 tid) {
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
        if (x->tid == tid) return x;
        if (!x->tid) break;
    }
    return 0;
}

/* Answers a call of a thread that knows enough; 0 if the server has to: all results are success. */
static int answered(struct request *r, struct thread *t) {
    u32 *known = DATA->known, number = r->number & 0xffff;
    u64 *a = r->registers;
    if (number == known[PUSH]) {
        if (t->depth == DEPTH) {
            t->over++;
            return 0;
        }
        struct launch *x = &t->launches[t->depth++];
        x->grid[0] = a[0], x->grid[1] = a[1], x->block[0] = a[2], x->block[1] = a[3], x->shared = a[4], x->stream = a[5];
        x->place = RETURNS_TO(r);
        return 1;
    }
    if (number == known[POP]) {
        if (t->over || !t->depth) {
            t->over -= t->over > 0;
            return 0;
        }
        struct launch *x = &t->launches[--t->depth];
        *(u64 *)a[0] = x->grid[0], ((u32 *)a[0])[2] = x->grid[1], *(u64 *)a[1] = x->block[0], ((u32 *)a[1])[2] = x->block[1];
        *(u64 *)a[2] = x->shared, *(u64 *)a[3] = x->stream;
        t->place = x->place;
        return 1;
    }
    if (number == known[KERNEL]) {
        *(u64 *)a[0] = a[1];
        return 1;
    }
    if (number == known[DEVICE] && a[0] && t->device >= 0) {
        *(int *)a[0] = t->device;
        return 1;
    }
    return (number == known[LAST] || number == known[PEEK]) && t->calm;
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
    struct slot *slot = slot_of(tid);
    if (slot && slot->thread && answered(r, slot->thread)) return 0;
    for (u32 i = LAUNCHES; i < KNOWN; i++)
        if ((r->number & 0xffff) == DATA->known[i]) WITH_STACK(r);
    int s = slot ? slot->socket : connected(tid, &slot);
    if (exchange(s, r, &reply) < 0) { /* the launcher closes connections that it did not need: once more on a new one */
        for (u32 i = 0; i < SLOTS; i++)
            if (DATA->slots[i].tid == tid && __sync_bool_compare_and_swap(&DATA->slots[i].tid, tid, DEAD)) sys(CLOSE, s, 0, 0, 0, 0, 0);
        s = connected(tid, &slot);
        if (exchange(s, r, &reply) < 0) return UNKNOWN;
    }
    for (;;) {
        u64 *a = reply.arguments, result;
        if (reply.kind == RETURN) {
            if (slot) slot->thread = (struct thread *)a[0];
            return reply.target;
        }
        if (reply.kind == SYSCALL) result = system_call(reply.target, a[0], a[1], a[2], a[3], a[4], a[5]);
        else result = ((u64(*)(u64, u64, u64, u64, u64, u64))reply.target)(a[0], a[1], a[2], a[3], a[4], a[5]);
        struct request answer; /* of which the rest does not matter */
        answer.number = ANSWER, answer.tid = tid, answer.registers[0] = result;
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
    struct request r;
    if (flag || !DATA->changed) return; /* LA_ACT_CONSISTENT is 0 */
    DATA->changed = 0;
    r.number = AUDIT;
    dispatch(&r);
}
