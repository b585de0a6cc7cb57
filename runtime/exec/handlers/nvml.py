"""NVML's basic calls, about the same devices: how many there are, their names, identifiers and memory.  Its other functions are refused."""

from __future__ import annotations

import struct
import uuid as identifiers
from collections.abc import Callable
from functools import wraps

from ...device.machine import SimulatedDevice, machine
from ...device.memory.host import host
from ...errors import ApiError
from .abi import read_array, write
from .special import DRIVER_VERSION, HandledCall, handles

# Each function, and its newer forms of the same parameters.
CALLS = """\
 | nvmlInit nvmlInit_v2 nvmlShutdown
flags:u32 | nvmlInitWithFlags
result:i32 | nvmlErrorString
version:ptr length:u32 | nvmlSystemGetDriverVersion nvmlSystemGetNVMLVersion
cudaDriverVersion:i32* | nvmlSystemGetCudaDriverVersion nvmlSystemGetCudaDriverVersion_v2
deviceCount:u32* | nvmlDeviceGetCount nvmlDeviceGetCount_v2
index:u32 device:ptr* | nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2
uuid:str device:ptr* | nvmlDeviceGetHandleByUUID
device:ptr name:ptr length:u32 | nvmlDeviceGetName
device:ptr uuid:ptr length:u32 | nvmlDeviceGetUUID
device:ptr index:u32* | nvmlDeviceGetIndex
device:ptr memory:ptr | nvmlDeviceGetMemoryInfo nvmlDeviceGetMemoryInfo_v2
device:ptr major:i32* minor:i32* | nvmlDeviceGetCudaComputeCapability
"""
# All others, which are not supported.
OTHERS = """\
 | nvmlComputeInstanceDestroy nvmlComputeInstanceGetInfo_v2 nvmlDeviceClearAccountingPids nvmlDeviceClearCpuAffinity
    nvmlDeviceClearEccErrorCounts nvmlDeviceClearFieldValues nvmlDeviceCreateGpuInstance nvmlDeviceCreateGpuInstanceWithPlacement
    nvmlDeviceDiscoverGpus nvmlDeviceGetAPIRestriction nvmlDeviceGetAccountingBufferSize nvmlDeviceGetAccountingMode
    nvmlDeviceGetAccountingPids nvmlDeviceGetAccountingStats nvmlDeviceGetAccountingStats_v2 nvmlDeviceGetActiveVgpus
    nvmlDeviceGetAdaptiveClockInfoStatus nvmlDeviceGetAdaptiveTgpModeInfo_v1 nvmlDeviceGetAddressingMode nvmlDeviceGetArchitecture
    nvmlDeviceGetAttributes_v2 nvmlDeviceGetAutoBoostedClocksEnabled nvmlDeviceGetBAR1MemoryInfo nvmlDeviceGetBBXTimeData_v1
    nvmlDeviceGetBankRemapperStatus_v1 nvmlDeviceGetBoardId nvmlDeviceGetBoardPartNumber nvmlDeviceGetBrand nvmlDeviceGetBridgeChipInfo
    nvmlDeviceGetBusType nvmlDeviceGetC2cModeInfoV nvmlDeviceGetCapabilities nvmlDeviceGetClkMonStatus nvmlDeviceGetClock
    nvmlDeviceGetClockInfo nvmlDeviceGetClockOffsets nvmlDeviceGetComputeInstanceId nvmlDeviceGetComputeMode
    nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetConfComputeGpuAttestationReport nvmlDeviceGetConfComputeGpuCertificate
    nvmlDeviceGetConfComputeMemSizeInfo nvmlDeviceGetConfComputeProtectedMemoryUsage nvmlDeviceGetCoolerInfo nvmlDeviceGetCpuAffinity
    nvmlDeviceGetCpuAffinityWithinScope nvmlDeviceGetCreatableVgpus nvmlDeviceGetCurrPcieLinkGeneration nvmlDeviceGetCurrPcieLinkWidth
    nvmlDeviceGetCurrentClockFreqs nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetDecoderUtilization nvmlDeviceGetDefaultEccMode
    nvmlDeviceGetDeviceHandleFromMigDeviceHandle nvmlDeviceGetDisplayActive nvmlDeviceGetDisplayMode nvmlDeviceGetDramEncryptionMode
    nvmlDeviceGetDriverModel_v2 nvmlDeviceGetDynamicPstatesInfo nvmlDeviceGetEccMode nvmlDeviceGetEncoderCapacity
    nvmlDeviceGetEncoderSessions nvmlDeviceGetEncoderStats nvmlDeviceGetEncoderUtilization nvmlDeviceGetEnforcedPowerLimit
    nvmlDeviceGetFBCSessions nvmlDeviceGetFBCStats nvmlDeviceGetFanControlPolicy_v2 nvmlDeviceGetFanSpeed nvmlDeviceGetFanSpeedRPM
    nvmlDeviceGetFanSpeed_v2 nvmlDeviceGetFieldValues nvmlDeviceGetGpcClkMinMaxVfOffset nvmlDeviceGetGpcClkVfOffset
    nvmlDeviceGetGpuFabricInfoV nvmlDeviceGetGpuFabricInfo_v4 nvmlDeviceGetGpuInstanceById nvmlDeviceGetGpuInstanceId
    nvmlDeviceGetGpuInstancePossiblePlacements_v2 nvmlDeviceGetGpuInstanceProfileInfoByIdV nvmlDeviceGetGpuInstanceProfileInfoV
    nvmlDeviceGetGpuInstanceRemainingCapacity nvmlDeviceGetGpuInstances nvmlDeviceGetGpuMaxPcieLinkGeneration nvmlDeviceGetGpuOperationMode
    nvmlDeviceGetGpuUptime_v1 nvmlDeviceGetGraphicsRunningProcesses_v3 nvmlDeviceGetGridLicensableFeatures_v4 nvmlDeviceGetGspFirmwareMode
    nvmlDeviceGetGspFirmwareVersion nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetHandleBySerial nvmlDeviceGetHandleByUUIDV
    nvmlDeviceGetHostVgpuMode nvmlDeviceGetHostname_v1 nvmlDeviceGetInforomConfigurationChecksum nvmlDeviceGetInforomImageVersion
    nvmlDeviceGetInforomVersion nvmlDeviceGetIrqNum nvmlDeviceGetJpgUtilization nvmlDeviceGetLastBBXFlushTime
    nvmlDeviceGetMPSComputeRunningProcesses_v3 nvmlDeviceGetMarginTemperature nvmlDeviceGetMaxClockInfo nvmlDeviceGetMaxCustomerBoostClock
    nvmlDeviceGetMaxMigDeviceCount nvmlDeviceGetMaxPcieLinkGeneration nvmlDeviceGetMaxPcieLinkWidth nvmlDeviceGetMemClkMinMaxVfOffset
    nvmlDeviceGetMemClkVfOffset nvmlDeviceGetMemoryAffinity nvmlDeviceGetMemoryBusWidth nvmlDeviceGetMemoryErrorCounter
    nvmlDeviceGetMemoryLimits_v1 nvmlDeviceGetMigDeviceHandleByIndex nvmlDeviceGetMigMode nvmlDeviceGetMinMaxClockOfPState
    nvmlDeviceGetMinMaxFanSpeed nvmlDeviceGetMinorNumber nvmlDeviceGetModuleId nvmlDeviceGetMultiGpuBoard nvmlDeviceGetNumFans
    nvmlDeviceGetNumGpuCores nvmlDeviceGetNumaNodeId nvmlDeviceGetNvLinkCapability nvmlDeviceGetNvLinkErrorCounter nvmlDeviceGetNvLinkInfo
    nvmlDeviceGetNvLinkInfo_v3 nvmlDeviceGetNvLinkRemoteDeviceType nvmlDeviceGetNvLinkRemotePciInfo_v2 nvmlDeviceGetNvLinkState
    nvmlDeviceGetNvLinkTelemetrySamples_v1 nvmlDeviceGetNvLinkVersion nvmlDeviceGetNvlinkBwMode nvmlDeviceGetNvlinkNvlePrivateInfo_v1
    nvmlDeviceGetNvlinkRemapTableInfo_v1 nvmlDeviceGetNvlinkSupportedBwModes nvmlDeviceGetOfaUtilization nvmlDeviceGetP2PStatus
    nvmlDeviceGetPciInfoExt nvmlDeviceGetPciInfo_v3 nvmlDeviceGetPcieLinkMaxSpeed nvmlDeviceGetPcieReplayCounter nvmlDeviceGetPcieSpeed
    nvmlDeviceGetPcieThroughput nvmlDeviceGetPdi nvmlDeviceGetPerformanceModes nvmlDeviceGetPerformanceState nvmlDeviceGetPersistenceMode
    nvmlDeviceGetPgpuMetadataString nvmlDeviceGetPlatformInfo nvmlDeviceGetPowerManagementDefaultLimit nvmlDeviceGetPowerManagementLimit
    nvmlDeviceGetPowerManagementLimitConstraints nvmlDeviceGetPowerMizerMode_v1 nvmlDeviceGetPowerSource nvmlDeviceGetPowerState
    nvmlDeviceGetPowerUsage nvmlDeviceGetProcessUtilization nvmlDeviceGetProcessesUtilizationInfo nvmlDeviceGetRemappedRows
    nvmlDeviceGetRemappedRows_v2 nvmlDeviceGetRepairStatus nvmlDeviceGetRetiredPages nvmlDeviceGetRetiredPagesPendingStatus
    nvmlDeviceGetRetiredPages_v2 nvmlDeviceGetRowRemapperHistogram nvmlDeviceGetRunningProcessDetailList nvmlDeviceGetSamples
    nvmlDeviceGetSerial nvmlDeviceGetSramEccErrorStatus nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts
    nvmlDeviceGetSupportedClocksEventReasons nvmlDeviceGetSupportedEventTypes nvmlDeviceGetSupportedGraphicsClocks
    nvmlDeviceGetSupportedMemoryClocks nvmlDeviceGetSupportedPerformanceStates nvmlDeviceGetSupportedVgpus nvmlDeviceGetTargetFanSpeed
    nvmlDeviceGetTemperatureThreshold nvmlDeviceGetTemperature nvmlDeviceGetTemperatureV nvmlDeviceGetThermalSettings nvmlDeviceGetTopologyCommonAncestor
    nvmlDeviceGetTopologyNearestGpus nvmlDeviceGetTotalEccErrors nvmlDeviceGetTotalEnergyConsumption nvmlDeviceGetUnrepairableMemoryFlag_v1
    nvmlDeviceGetUtilizationRates nvmlDeviceGetVbiosVersion nvmlDeviceGetVgpuCapabilities nvmlDeviceGetVgpuHeterogeneousMode
    nvmlDeviceGetVgpuInstancesUtilizationInfo nvmlDeviceGetVgpuMetadata nvmlDeviceGetVgpuProcessUtilization
    nvmlDeviceGetVgpuProcessesUtilizationInfo nvmlDeviceGetVgpuSchedulerCapabilities nvmlDeviceGetVgpuSchedulerLog
    nvmlDeviceGetVgpuSchedulerLog_v2 nvmlDeviceGetVgpuSchedulerState nvmlDeviceGetVgpuSchedulerState_v2
    nvmlDeviceGetVgpuTypeCreatablePlacements nvmlDeviceGetVgpuTypeSupportedPlacements nvmlDeviceGetVgpuUtilization
    nvmlDeviceGetVirtualizationMode nvmlDeviceIsMigDeviceHandle nvmlDeviceLockNvlinkRemapTable_v1 nvmlDeviceModifyDrainState
    nvmlDeviceOnSameBoard nvmlDevicePerfMetricsGetSamples_v1 nvmlDevicePowerSmoothingActivatePresetProfile nvmlDevicePowerSmoothingSetState
    nvmlDevicePowerSmoothingUpdatePresetProfileParam nvmlDeviceQueryDrainState nvmlDeviceReadPRMCounters_v1 nvmlDeviceReadWritePRM_v1
    nvmlDeviceRegisterEvents nvmlDeviceRemoveGpu_v2 nvmlDeviceResetGpuLockedClocks nvmlDeviceResetMemoryLockedClocks
    nvmlDeviceResetNvLinkErrorCounters nvmlDeviceSetAPIRestriction nvmlDeviceSetAccountingMode nvmlDeviceSetAdaptiveTgpMode_v1
    nvmlDeviceSetAutoBoostedClocksEnabled nvmlDeviceSetClockOffsets nvmlDeviceSetComputeMode nvmlDeviceSetConfComputeUnprotectedMemSize
    nvmlDeviceSetCpuAffinity nvmlDeviceSetDefaultAutoBoostedClocksEnabled nvmlDeviceSetDefaultFanSpeed_v2 nvmlDeviceSetDramEncryptionMode
    nvmlDeviceSetDriverModel nvmlDeviceSetEccMode nvmlDeviceSetFanControlPolicy nvmlDeviceSetFanSpeed_v2 nvmlDeviceSetGpuLockedClocks
    nvmlDeviceSetGpuOperationMode nvmlDeviceSetHostname_v1 nvmlDeviceSetMemoryLimits_v1 nvmlDeviceSetMemoryLockedClocks nvmlDeviceSetMigMode
    nvmlDeviceSetNvLinkDeviceLowPowerThreshold nvmlDeviceSetNvlinkBwMode nvmlDeviceSetNvlinkBwModeAsync_v1 nvmlDeviceSetNvlinkNvleReady_v1
    nvmlDeviceSetPersistenceMode nvmlDeviceSetPowerManagementLimit_v2 nvmlDeviceSetPowerMizerMode_v1 nvmlDeviceSetRusdSettings_v1
    nvmlDeviceSetTemperatureThreshold nvmlDeviceSetVgpuCapabilities nvmlDeviceSetVgpuHeterogeneousMode nvmlDeviceSetVgpuSchedulerState
    nvmlDeviceSetVgpuSchedulerState_v2 nvmlDeviceSetVirtualizationMode nvmlDeviceSetupNvlinkNvleEncryptionKey_v1 nvmlDeviceValidateInforom
    nvmlDeviceVgpuForceGspUnload nvmlEventSetCreate nvmlEventSetFree nvmlEventSetGetContextCount_v1 nvmlEventSetGetContextData_v1
    nvmlEventSetGetContextInfo_v1 nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1 nvmlEventSetRegisterGpuOperationalEvents_v1
    nvmlEventSetWait_v2 nvmlEventSetWait_v3 nvmlGetExcludedDeviceCount nvmlGetExcludedDeviceInfoByIndex nvmlGetVgpuCompatibility
    nvmlGetVgpuDriverCapabilities nvmlGetVgpuVersion nvmlGpuInstanceCreateComputeInstance nvmlGpuInstanceCreateComputeInstanceWithPlacement
    nvmlGpuInstanceDestroy nvmlGpuInstanceGetActiveVgpus nvmlGpuInstanceGetComputeInstanceById
    nvmlGpuInstanceGetComputeInstancePossiblePlacements nvmlGpuInstanceGetComputeInstanceProfileInfoV
    nvmlGpuInstanceGetComputeInstanceRemainingCapacity nvmlGpuInstanceGetComputeInstances nvmlGpuInstanceGetCreatableVgpus
    nvmlGpuInstanceGetInfo nvmlGpuInstanceGetVgpuHeterogeneousMode nvmlGpuInstanceGetVgpuSchedulerLog nvmlGpuInstanceGetVgpuSchedulerLog_v2
    nvmlGpuInstanceGetVgpuSchedulerState nvmlGpuInstanceGetVgpuSchedulerState_v2 nvmlGpuInstanceGetVgpuTypeCreatablePlacements
    nvmlGpuInstanceSetVgpuHeterogeneousMode nvmlGpuInstanceSetVgpuSchedulerState nvmlGpuInstanceSetVgpuSchedulerState_v2 nvmlSetVgpuVersion
    nvmlSystemEventSetCreate nvmlSystemEventSetFree nvmlSystemEventSetWait nvmlSystemGetCPER_v1 nvmlSystemGetConfComputeCapabilities
    nvmlSystemGetConfComputeGpusReadyState nvmlSystemGetConfComputeKeyRotationThresholdInfo nvmlSystemGetConfComputeSettings
    nvmlSystemGetConfComputeSettings_v2 nvmlSystemGetConfComputeState nvmlSystemGetDriverBranch nvmlSystemGetHicVersion
    nvmlSystemGetNvlinkBwMode nvmlSystemGetProcessName nvmlSystemGetTopologyGpuSet nvmlSystemRegisterEvents
    nvmlSystemSetConfComputeGpusReadyState nvmlSystemSetConfComputeKeyRotationThresholdInfo nvmlSystemSetNvlinkBwMode nvmlUnitGetCount
    nvmlUnitGetDevices nvmlUnitGetFanSpeedInfo nvmlUnitGetHandleByIndex nvmlUnitGetLedState nvmlUnitGetPsuInfo nvmlUnitGetTemperature
    nvmlUnitGetUnitInfo nvmlUnitSetLedState nvmlVgpuInstanceClearAccountingPids nvmlVgpuInstanceGetAccountingMode
    nvmlVgpuInstanceGetAccountingPids nvmlVgpuInstanceGetAccountingStats nvmlVgpuInstanceGetEccMode nvmlVgpuInstanceGetEncoderCapacity
    nvmlVgpuInstanceGetEncoderSessions nvmlVgpuInstanceGetEncoderStats nvmlVgpuInstanceGetFBCSessions nvmlVgpuInstanceGetFBCStats
    nvmlVgpuInstanceGetFbUsage nvmlVgpuInstanceGetFrameRateLimit nvmlVgpuInstanceGetGpuInstanceId nvmlVgpuInstanceGetGpuPciId
    nvmlVgpuInstanceGetLicenseInfo_v2 nvmlVgpuInstanceGetLicenseStatus nvmlVgpuInstanceGetMdevUUID nvmlVgpuInstanceGetMetadata
    nvmlVgpuInstanceGetPlacementId nvmlVgpuInstanceGetRuntimeStateSize nvmlVgpuInstanceGetType nvmlVgpuInstanceGetUUID
    nvmlVgpuInstanceGetVmDriverVersion nvmlVgpuInstanceGetVmID nvmlVgpuInstanceSetEncoderCapacity nvmlVgpuTypeGetBAR1Info
    nvmlVgpuTypeGetCapabilities nvmlVgpuTypeGetClass nvmlVgpuTypeGetDeviceID nvmlVgpuTypeGetFbReservation nvmlVgpuTypeGetFrameRateLimit
    nvmlVgpuTypeGetFramebufferSize nvmlVgpuTypeGetGpuInstanceProfileId nvmlVgpuTypeGetGspHeapSize nvmlVgpuTypeGetLicense
    nvmlVgpuTypeGetMaxInstances nvmlVgpuTypeGetMaxInstancesPerGpuInstance nvmlVgpuTypeGetMaxInstancesPerVm nvmlVgpuTypeGetName
    nvmlVgpuTypeGetNumDisplayHeads nvmlVgpuTypeGetResolution
"""
SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, INSUFFICIENT_SIZE, VERSION_MISMATCH, UNKNOWN = 0, 1, 2, 3, 6, 7, 25, 999
WORDS = {
    SUCCESS: "Success", UNINITIALIZED: "Uninitialized", INVALID_ARGUMENT: "Invalid Argument", NOT_SUPPORTED: "Not Supported", 4: "Insufficient Permissions",
    5: "Already Initialized", NOT_FOUND: "Not Found", INSUFFICIENT_SIZE: "Insufficient Size", 9: "Driver Not Loaded", 10: "Timeout",
    12: "Shared Library Not Found", 13: "Function Not Found", VERSION_MISMATCH: "Argument version mismatch", UNKNOWN: "Unknown Error",
}  # fmt: skip
DRIVER = "580.159"  # the release whose answers are modelled
MEMORY, MEMORY_2 = struct.Struct("<3Q"), struct.Struct("<I4x4Q")
FIRST = 0x40_0000_0000  # the handle of the first device
STEP = 0x10  # to the next one's
_users: list[None] = []  # one for each time that it was initialised


def call(*names: str, calm: bool = False) -> Callable[[Callable[[HandledCall], int]], Callable[[HandledCall], int]]:
    """Enters an answer, whose codes are NVML's; one that is not `calm` needs nvmlInit, and none of its pointers may be null."""

    def enter(work: Callable[[HandledCall], int]) -> Callable[[HandledCall], int]:
        @wraps(work)
        def answer(c: HandledCall) -> int:
            if calm:
                return work(c)
            if not _users:
                return UNINITIALIZED
            if any(not value for name, value in c.given.items() if name not in ("index", "length") or value is None):
                return INVALID_ARGUMENT
            try:
                return work(c)
            except ApiError:
                return INVALID_ARGUMENT

        return handles(*names)(answer)

    return enter


@call("nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", calm=True)
def initialise(c: HandledCall) -> int:
    """One more user."""
    _users.append(None)
    return SUCCESS


@call("nvmlShutdown")
def shut_down(c: HandledCall) -> int:
    """One user less."""
    _users.pop()
    return SUCCESS


@call("nvmlErrorString", calm=True)
def error_string(c: HandledCall) -> int:
    """What a code means."""
    return c.strings.string(WORDS.get(c.given["result"], WORDS[UNKNOWN]).encode())


def _text(c: HandledCall, name: str, text: str) -> int:
    raw = text.encode() + b"\0"
    if len(raw) > c.given["length"]:
        return INSUFFICIENT_SIZE
    write(c.given[name], raw)
    return SUCCESS


@call("nvmlSystemGetDriverVersion")
def driver_version(c: HandledCall) -> int:
    """The release of the driver."""
    return _text(c, "version", DRIVER)


@call("nvmlSystemGetNVMLVersion")
def own_version(c: HandledCall) -> int:
    """The release of this library."""
    return _text(c, "version", f"{DRIVER_VERSION // 1000}.{DRIVER}")


@call("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
def cuda_version(c: HandledCall) -> int:
    """As cuDriverGetVersion."""
    c.out("cudaDriverVersion", "i32", DRIVER_VERSION)
    return SUCCESS


# ---------------------------------------------------------------- devices


def _device(c: HandledCall) -> SimulatedDevice:
    ordinal, rest = divmod(c.given["device"] - FIRST, STEP)
    if rest:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the handle stands for no device")
    return machine().device(ordinal)


def _uuid(d: SimulatedDevice) -> str:
    return f"GPU-{identifiers.UUID(bytes=d.uuid)}"


@call("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2")
def count(c: HandledCall) -> int:
    """How many devices there are."""
    c.out("deviceCount", "u32", len(machine().devices))
    return SUCCESS


@call("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2")
def by_index(c: HandledCall) -> int:
    """A device by its number."""
    c.out("device", "ptr", FIRST + machine().device(c.given["index"]).ordinal * STEP)
    return SUCCESS


@call("nvmlDeviceGetHandleByUUID")
def by_uuid(c: HandledCall) -> int:
    """A device by its identifier."""
    wanted = host().string(c.given["uuid"]).decode(errors="replace")
    found = next((d for d in machine().devices if _uuid(d) == wanted), None)
    if found is None:
        return NOT_FOUND
    c.out("device", "ptr", FIRST + found.ordinal * STEP)
    return SUCCESS


@call("nvmlDeviceGetName")
def name(c: HandledCall) -> int:
    """The name of a device."""
    return _text(c, "name", _device(c).name)


@call("nvmlDeviceGetUUID")
def uuid(c: HandledCall) -> int:
    """The identifier of a device: that of cuDeviceGetUuid, in text."""
    return _text(c, "uuid", _uuid(_device(c)))


@call("nvmlDeviceGetIndex")
def index(c: HandledCall) -> int:
    """The number of a device."""
    c.out("index", "u32", _device(c).ordinal)
    return SUCCESS


@call("nvmlDeviceGetCudaComputeCapability")
def capability(c: HandledCall) -> int:
    """The compute capability of a device."""
    for part, value in zip(("major", "minor"), _device(c).profile.capability, strict=True):
        c.out(part, "i32", value)
    return SUCCESS


def _memory(d: SimulatedDevice) -> tuple[int, int, int]:
    used = d.arena.used if d.is_used else 0
    return d.memory, d.memory - used, used


@call("nvmlDeviceGetMemoryInfo")
def memory(c: HandledCall) -> int:
    """Bytes in all, free and used."""
    write(c.given["memory"], MEMORY.pack(*_memory(_device(c))))
    return SUCCESS


@call("nvmlDeviceGetMemoryInfo_v2")
def memory_2(c: HandledCall) -> int:
    """The same in the second form, which has the bytes that the driver reserves: none."""
    version = MEMORY_2.size | 2 << 24
    (given,) = read_array("u32", c.given["memory"], 1)
    if given != version:
        return VERSION_MISMATCH
    total, free, used = _memory(_device(c))
    write(c.given["memory"], MEMORY_2.pack(version, total, 0, free, used))
    return SUCCESS


@call(*OTHERS.split()[1:])
def refuse(c: HandledCall) -> int:
    """What a model has no answer to."""
    return NOT_SUPPORTED
