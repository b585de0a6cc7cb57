// function.cu as the code generator printed it.
extern "C" __device__ int max3(int a, int b, int c)
{
    int most = a > b ? a : b;
    return most;
}
