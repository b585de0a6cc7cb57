// A device function and a variable that another file uses (compile with -rdc=true).
__device__ int factor = 6;
__device__ int scaled(int v) { return v * factor; }
