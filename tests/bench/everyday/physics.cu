// Particles, rays, and other numerical work on structures.

// The pull of some bodies on all, velocities and positions in structures of four
extern "C" __global__ void n_body(int n, int sources, float dt, const float4 *body, float4 *velocity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = body[i], v = velocity[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < sources; j++) {
        float4 b = body[j];
        float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        float pull = b.w * inverse * inverse * inverse;
        ax += dx * pull;
        ay += dy * pull;
        az += dz * pull;
    }
    v.x += ax * dt;
    v.y += ay * dt;
    v.z += az * dt;
    velocity[i] = v;
}

struct Particle {
    float x, y, z, vx, vy, vz, mass;
    int alive;
};

// A step of particles that bounce off the floor, an array of structures
extern "C" __global__ void particles_aos(int n, float dt, Particle *particles)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !particles[i].alive)
        return;
    Particle *p = &particles[i];
    p->vy -= 9.81f * dt;
    p->x += p->vx * dt;
    p->y += p->vy * dt;
    p->z += p->vz * dt;
    if (p->y < 0.0f) {
        p->y = -p->y;
        p->vy *= -0.9f;
    }
}

// The same with an array for each component
extern "C" __global__ void particles_soa(int n, float dt, float *x, float *y, float *z, float *vx, float *vy, float *vz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    vy[i] -= 9.81f * dt;
    x[i] += vx[i] * dt;
    y[i] += vy[i] * dt;
    z[i] += vz[i] * dt;
    if (y[i] < 0.0f) {
        y[i] = -y[i];
        vy[i] *= -0.9f;
    }
}

// How many neighbors are near, by cells of particles in order
extern "C" __global__ void cell_list(int n, int side, const float2 *place, const int *cell_start, int *near)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 me = place[i];
    int cx = (int)me.x, cy = (int)me.y, count = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, side - 1); x++) {
            int cell = y * side + x;
            for (int k = cell_start[cell]; k < cell_start[cell + 1]; k++) {
                float dx = place[k].x - me.x, dy = place[k].y - me.y;
                if (k != i && dx * dx + dy * dy < 1.0f)
                    count++;
            }
        }
    near[i] = count;
}

// Random points in a square: how many lie in the circle
extern "C" __global__ void monte_carlo_pi(int tries, unsigned seed, unsigned *inside)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, state = (i + seed) * 747796405u + 2891336453u, hits = 0;
    for (int k = 0; k < tries; k++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * (1.0f / 16777216.0f);
        hits += x * x + y * y < 1.0f;
    }
    atomicAdd(inside, hits);
}

// The nearest of some centers, for points of four dimensions
extern "C" __global__ void k_means(int n, int k, const float *point, const float *center, int *nearest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < k; c++) {
        float d = 0.0f;
        for (int j = 0; j < 4; j++) {
            float diff = point[i * 4 + j] - center[c * 4 + j];
            d += diff * diff;
        }
        if (d < least) {
            least = d;
            best = c;
        }
    }
    nearest[i] = best;
}

struct Frame {
    float m[9], v[3];
};

// A matrix of three by three applied to the vector beside it, in place
extern "C" __global__ void matrix_structs(int n, Frame *frame)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Frame &f = frame[i];
    float x = f.v[0], y = f.v[1], z = f.v[2];
    for (int r = 0; r < 3; r++)
        f.v[r] = f.m[3 * r] * x + f.m[3 * r + 1] * y + f.m[3 * r + 2] * z;
}

struct Order {
    char kind;
    short count;
    int customer;
    double price;
    float total;
};

// Fields of different sizes: some are read, one is written, one is changed
extern "C" __global__ void mixed_fields(int n, Order *order)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Order *o = &order[i];
    if (o->kind == 1)
        o->count += 1;
    o->total = (float)(o->price * o->count);
}
