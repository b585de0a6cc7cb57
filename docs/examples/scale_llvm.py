"""LLVM's PTX of a kernel, through llvmlite: python scale_llvm.py llvm.ptx"""

import sys
from pathlib import Path

import llvmlite.binding as llvm

SOURCE = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @scale(ptr addrspace(1) %x, ptr addrspace(1) %out, float %factor, i32 %n) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, %width
  %i = add i32 %first, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %done
work:
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from
  %scaled = fmul float %value, %factor
  %to = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %scaled, ptr addrspace(1) %to
  br label %done
done:
  ret void
}
"""

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_90", opt=2)
Path(sys.argv[1]).write_text(machine.emit_assembly(llvm.parse_assembly(SOURCE)))
