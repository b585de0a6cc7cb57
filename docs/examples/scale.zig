export fn scale(x: [*]addrspace(.global) const f32, out: [*]addrspace(.global) f32, factor: f32, n: u32) callconv(.nvptx_kernel) void {
    const i = @workGroupId(0) * @workGroupSize(0) + @workItemId(0);
    if (i < n) out[i] = factor * x[i];
}
