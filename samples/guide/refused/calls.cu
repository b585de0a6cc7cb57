// Calls that the compiler refuses: each side has its functions.
void on_host() {}

__device__ void on_device() {}

__global__ void kernel() { on_host(); }

void host() { on_device(); }
