#include <cuda_fp16.h>
extern "C" {
__global__ void k_axpby(float*x,const float*y,float a,float b,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) x[i]=a*x[i]+b*y[i];}
__global__ void k_dot(const float*a,const float*b,float*o,int n){__shared__ float s[256];float t=0;for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=gridDim.x*blockDim.x)t+=a[i]*b[i];s[threadIdx.x]=t;__syncthreads();for(int d=128;d>0;d>>=1){if(threadIdx.x<d)s[threadIdx.x]+=s[threadIdx.x+d];__syncthreads();}if(threadIdx.x==0)atomicAdd(o,s[0]);}
__global__ void k_warpsum(const float*a,float*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;float v=i<n?a[i]:0.f;for(int m=16;m;m>>=1)v+=__shfl_down_sync(~0u,v,m);if((threadIdx.x&31)==0)o[i>>5]=v;}
__global__ void k_gemm(const float*A,const float*B,float*C,int M,int N,int K){int c=blockIdx.x*blockDim.x+threadIdx.x,r=blockIdx.y*blockDim.y+threadIdx.y;if(r<M&&c<N){float s=0;for(int k=0;k<K;k++)s+=A[r*K+k]*B[k*N+c];C[r*N+c]=s;}}
__global__ void k_gemm_tiled(const float*A,const float*B,float*C,int N){__shared__ float a[16][16],b[16][16];int tx=threadIdx.x,ty=threadIdx.y,r=blockIdx.y*16+ty,c=blockIdx.x*16+tx;float s=0;for(int t=0;t<N/16;t++){a[ty][tx]=A[r*N+t*16+tx];b[ty][tx]=B[(t*16+ty)*N+c];__syncthreads();
#pragma unroll
for(int k=0;k<16;k++)s+=a[ty][k]*b[k][tx];__syncthreads();}C[r*N+c]=s;}
__global__ void k_hist(const unsigned char*d,unsigned*h,int n){__shared__ unsigned s[256];for(int i=threadIdx.x;i<256;i+=blockDim.x)s[i]=0;__syncthreads();for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=blockDim.x*gridDim.x)atomicAdd(&s[d[i]],1u);__syncthreads();for(int i=threadIdx.x;i<256;i+=blockDim.x)atomicAdd(&h[i],s[i]);}
__global__ void k_stencil(const float*a,float*b,int w,int h){int x=blockIdx.x*blockDim.x+threadIdx.x,y=blockIdx.y*blockDim.y+threadIdx.y;if(x>0&&y>0&&x<w-1&&y<h-1){b[y*w+x]=0.25f*(a[y*w+x-1]+a[y*w+x+1]+a[(y-1)*w+x]+a[(y+1)*w+x]);}}
__global__ void k_collatz(unsigned*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i>=n)return;unsigned v=i+1,c=0;while(v!=1&&c<200){v=(v&1)?3*v+1:v>>1;c++;}o[i]=c;}
__global__ void k_gcd(const int*a,const int*b,int*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i>=n)return;int x=a[i],y=b[i];while(y){int t=x%y;x=y;y=t;}o[i]=x;}
__global__ void k_lcg64(unsigned long long*o,int n,int r){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i>=n)return;unsigned long long s=i;for(int k=0;k<r;k++)s=s*6364136223846793005ULL+1442695040888963407ULL;o[i]=s>>33;}
__global__ void k_gelu(float*x,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n){float v=x[i];x[i]=0.5f*v*(1.f+tanhf(0.79788456f*(v+0.044715f*v*v*v)));}}
__global__ void k_expnorm(const float*x,float*y,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n){float v=x[i];y[i]=expf(-v*v*0.5f)/sqrtf(6.2831853f+v);}}
__global__ void k_sincos(const float*x,float*y,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n){y[i]=sinf(x[i])*cosf(x[i]*2);}}
__global__ void k_double(const double*x,double*y,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n){double v=x[i];y[i]=v/(1.0+v*v)+sqrt(v);}}
__global__ void k_transpose(const float*a,float*b,int n){__shared__ float t[32][33];int x=blockIdx.x*32+threadIdx.x,y=blockIdx.y*32+threadIdx.y;for(int j=0;j<32;j+=8)t[threadIdx.y+j][threadIdx.x]=a[(y+j)*n+x];__syncthreads();x=blockIdx.y*32+threadIdx.x;y=blockIdx.x*32+threadIdx.y;for(int j=0;j<32;j+=8)b[(y+j)*n+x]=t[threadIdx.x][threadIdx.y+j];}
__global__ void k_half(const half2*a,const half2*b,half2*c,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)c[i]=__hfma2(a[i],b[i],c[i]);}
__global__ void k_bits(const unsigned*a,unsigned*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n){unsigned v=a[i];o[i]=__popc(v)+__clz(v)*(__brev(v)>>28)+__ffs(v)+((v>>3)&31);}}
__global__ void k_spmv(const int*p,const int*c,const float*v,const float*x,float*y,int n){int r=blockIdx.x*blockDim.x+threadIdx.x;if(r<n){float s=0;for(int j=p[r];j<p[r+1];j++)s+=v[j]*x[c[j]];y[r]=s;}}
__global__ void k_local(const int*a,int*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;int st[16];if(i<n){for(int k=0;k<16;k++)st[k]=a[i*16+k];int s=0;for(int k=0;k<16;k++)s+=st[a[i+k]&15];o[i]=s;}}
__device__ __noinline__ float helper(float a,float b,int k){float r=a;for(int i=0;i<k;i++)r=r*b+a;return r;}
__global__ void k_call(float*x,int n,int k){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)x[i]=helper(x[i],0.5f,k)+helper(x[i]*2,0.25f,k+1);}
}
