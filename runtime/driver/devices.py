"""The driver's calls about devices and their primary contexts."""

from __future__ import annotations

from ..device.machine import SimulatedDevice, machine
from ..errors import ApiError, invalid
from .api import api, device_of, handle_of, initialise, integer, member
from .contexts import _check_flags
from .tables.enums import CUdevice_attribute, CUdevice_P2PAttribute, CUresult
from .tables.errors import MESSAGES
from .tables.structs import CUcontext, CUdevice, CUdevprop, CUuuid

VERSION = 13000


@api
def cuInit(Flags: object) -> None:
    """Makes the devices."""
    if integer(Flags):
        raise invalid("the flags must be 0")
    initialise()


@api
def cuDriverGetVersion() -> int:
    """13000: CUDA 13.0."""
    return VERSION


@api
def cuGetErrorName(error: object) -> bytes:
    """CUDA's name for a code."""
    try:
        return str(CUresult(integer(error)).name).encode()
    except ValueError:
        raise invalid(f"{error} is not a code") from None


@api
def cuGetErrorString(error: object) -> bytes:
    """What a code means, in a few words."""
    try:
        return MESSAGES[CUresult(integer(error)).name].encode()
    except (ValueError, KeyError):
        raise invalid(f"{error} is not a code") from None


@api
def cuDeviceGet(ordinal: object) -> CUdevice:
    """A device by its number."""
    return CUdevice(machine().device(integer(ordinal)).ordinal)


@api
def cuDeviceGetCount() -> int:
    """How many devices there are."""
    return len(machine().devices)


@api
def cuDeviceGetName(length: object, dev: object) -> bytes:
    """The device's name, with a zero byte where there is room."""
    n = integer(length)
    if n <= 0:
        raise invalid("the length must be positive")
    return device_of(dev).name.encode()[: n - 1]


@api
def cuDeviceGetUuid(dev: object) -> CUuuid:
    """16 bytes that name the device."""
    out = CUuuid()
    out.bytes = device_of(dev).uuid
    return out


@api
def cuDeviceGetLuid(dev: object) -> tuple[bytes, int]:
    """Windows' number for the device, which there is none of elsewhere."""
    device_of(dev)
    raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "a LUID is a thing of Windows")


@api
def cuDeviceTotalMem(dev: object) -> int:
    """Bytes of device memory."""
    return device_of(dev).memory


@api
def cuDeviceGetAttribute(attrib: object, dev: object) -> int:
    """One attribute of a device."""
    d = device_of(dev)
    name = member(CUdevice_attribute, attrib).name
    return d.attribute(name.removeprefix("CU_DEVICE_ATTRIBUTE_"))


@api
def cuDeviceComputeCapability(dev: object) -> tuple[int, int]:
    """(9, 0) of sm_90."""
    return device_of(dev).profile.capability


@api
def cuDeviceGetProperties(dev: object) -> CUdevprop:
    """The oldest properties of a device."""
    d, out = device_of(dev), CUdevprop()
    p = d.profile
    out.maxThreadsPerBlock = p.max_threads_per_block
    out.maxThreadsDim = list(p.max_block)
    out.maxGridSize = list(p.max_grid)
    out.sharedMemPerBlock = p.shared_per_block
    out.totalConstantMemory = p.constant_memory
    out.SIMDWidth = p.warp_size
    out.memPitch = d.attribute("MAX_PITCH")
    out.regsPerBlock = p.registers_per_block
    out.clockRate = d.attribute("CLOCK_RATE")
    out.textureAlign = d.attribute("TEXTURE_ALIGNMENT")
    return out


def pci_bus_id(d: SimulatedDevice) -> str:
    """domain:bus:device.function."""
    return f"{d.attribute('PCI_DOMAIN_ID'):04x}:{d.attribute('PCI_BUS_ID'):02x}:{d.attribute('PCI_DEVICE_ID'):02x}.0"


@api
def cuDeviceGetPCIBusId(length: object, dev: object) -> bytes:
    """Where a device would sit on the bus."""
    name = pci_bus_id(device_of(dev))
    if integer(length) <= len(name):
        raise invalid(f"{len(name) + 1} bytes are needed")
    return name.encode()


@api
def cuDeviceGetByPCIBusId(pciBusId: bytes) -> CUdevice:
    """The device at a place on the bus."""
    wanted = pciBusId.decode().lower().split("\0")[0]
    for d in machine().devices:
        known = pci_bus_id(d)
        if wanted in (known, known[5:], known[:-2]):
            return CUdevice(d.ordinal)
    raise ApiError("CUDA_ERROR_INVALID_DEVICE", f"nothing is at {wanted}")


@api
def cuDeviceCanAccessPeer(dev: object, peerDev: object) -> int:
    """1 where a device can reach the memory of another."""
    a, b = device_of(dev), device_of(peerDev)
    return int(a is not b and min(a.profile.capability, b.profile.capability) >= (2, 0))


@api
def cuDeviceGetP2PAttribute(attrib: object, srcDevice: object, dstDevice: object) -> int:
    """How two devices reach each other."""
    a, b = device_of(srcDevice), device_of(dstDevice)
    if a is b:
        raise ApiError("CUDA_ERROR_INVALID_DEVICE", "a device is not a peer of itself")
    supported = int(min(a.profile.capability, b.profile.capability) >= (2, 0))
    return 0 if member(CUdevice_P2PAttribute, attrib).name.endswith("PERFORMANCE_RANK") else supported


@api
def cuDevicePrimaryCtxRetain(dev: object) -> CUcontext:
    """The device's primary context."""
    return CUcontext(handle_of(device_of(dev).retain()))


@api
def cuDevicePrimaryCtxRelease(dev: object) -> None:
    """Gives the primary context back."""
    device_of(dev).release()


@api
def cuDevicePrimaryCtxReset(dev: object) -> None:
    """The primary context as new, its error gone."""
    device_of(dev).reset()


@api
def cuDevicePrimaryCtxSetFlags(dev: object, flags: object) -> None:
    """Sets how host threads would wait."""
    d = device_of(dev)
    _check_flags(integer(flags))
    d.flags = integer(flags)
    if d.primary is not None:
        d.primary.flags = d.flags


@api
def cuDevicePrimaryCtxGetState(dev: object) -> tuple[int, int]:
    """(flags, is it active?)."""
    d = device_of(dev)
    return d.flags, int(d.primary is not None)
