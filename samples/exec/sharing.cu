// Three processes that use one allocation: memory and event handles that go from one to the others.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct Meeting {
    volatile int turn;  // which child may go on
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void add(int *p, int value) { p[threadIdx.x] += value; }

static void child(Meeting *meeting, int number) {
    while (meeting->turn != number) usleep(1000);
    int *p;
    cudaEvent_t event;
    CUDA(cudaIpcOpenMemHandle((void **)&p, meeting->memory, cudaIpcMemLazyEnablePeerAccess));
    CUDA(cudaIpcOpenEventHandle(&event, meeting->event));
    CUDA(cudaStreamWaitEvent(0, event, 0));
    add<<<1, 64>>>(p, 10 * number);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaIpcCloseMemHandle(p));
    exit(0);
}

int main() {
    void *shared = mmap(0, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Meeting *meeting = (Meeting *)shared;
    pid_t children[2];
    for (int c = 0; c < 2; c++)
        if ((children[c] = fork()) == 0) child(meeting, c + 1);

    const int n = 25000;
    int *before, *p, host[64];
    cudaEvent_t event;
    CUDA(cudaMalloc(&before, 64 * sizeof(int)));
    CUDA(cudaMalloc(&p, n * sizeof(int)));
    CUDA(cudaMemset(p, 0, n * sizeof(int)));
    add<<<1, 64>>>(p, 1);
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CUDA(cudaEventRecord(event));
    CUDA(cudaIpcGetMemHandle(&meeting->memory, p));
    CUDA(cudaIpcGetEventHandle(&meeting->event, event));
    for (int c = 0; c < 2; c++) {
        int status;
        meeting->turn = c + 1;
        CHECK(waitpid(children[c], &status, 0) == children[c] && status == 0);
    }
    CUDA(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int x : host) CHECK(x == 31);
    CUDA(cudaFree(p));
    printf("sharing: right\n");
}
