"""Requests that begin and end the debugging of a launch."""

from __future__ import annotations

from warplab.assembler.demangle import short_name

from ..debugger import commands  # noqa: F401  fills the debugger's table
from ..debugger.prompt import Prompt
from ..dwarf.names import NEEDED
from ..errors import UsageError
from ..recording.telling import dim3
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .motion import FILTERS, run_to_first_stop

SUPPORTED = (
    "supportsConfigurationDoneRequest supportsFunctionBreakpoints supportsConditionalBreakpoints supportsHitConditionalBreakpoints "
    "supportsEvaluateForHovers supportsStepBack supportsGotoTargetsRequest supportsCompletionsRequest supportsRestartRequest "
    "supportsValueFormattingOptions supportsExceptionInfoRequest supportsDelayedStackTraceLoading supportsLoadedSourcesRequest "
    "supportsLogPoints supportsTerminateRequest supportsDataBreakpoints supportsReadMemoryRequest supportsDisassembleRequest "
    "supportsBreakpointLocationsRequest supportsClipboardContext supportsSteppingGranularity supportsInstructionBreakpoints"
).split()


@request("initialize")
def initialize(a: Adapter, args: RequestArguments) -> Body:
    """What this debugger can do."""
    a.first_line = 1 if args.flag("linesStartAt1", True) else 0
    a.first_column = 1 if args.flag("columnsStartAt1", True) else 0
    filters = [{"filter": name, "label": f.label, "description": f.says, "default": f.default} for name, f in FILTERS.items()]
    return {**dict.fromkeys(SUPPORTED, True), "exceptionBreakpointFilters": filters, "completionTriggerCharacters": ["%", "$"]}


@request("launch", "attach")
def launch(a: Adapter, args: RequestArguments) -> Body:
    """Launches the program and records it, or opens a recording; a program that runs by itself is launched, too."""
    threads = args.text("threads", "warps")
    if threads not in ("warps", "lanes"):
        raise UsageError("`threads` must be `warps` or `lanes`")
    a.by_lanes = threads == "lanes"
    a.stops_at_end = args.flag("stopAtEnd", True)
    a.launched = args
    _begin(a)
    if args.flag("noDebug"):
        a.afterwards("terminated")
    else:
        a.afterwards("initialized")
    return None


def _begin(a: Adapter) -> None:
    args = a.launched
    assert args is not None
    loaded = a.load(args, a.output)
    a.prompt = Prompt(loaded.launches, a.say, loaded.number)
    for n in range(len(loaded.launches)):
        a.prompt.number = n
        a.prompt.session.by_source = args.text("lines", "source") != "ptx"
    a.prompt.number = loaded.number
    a.handles.clear()
    a.breakpoints.apply()
    t = a.rec.track
    a.say(f"{short_name(t.kernel)}<<<{dim3(t.grid)}, {dim3(t.block)}>>> on {t.device}: {a.rec.step_count} steps are recorded")
    if a.session.names.why_not == NEEDED:
        a.say(NEEDED)
    if t.kept_blocks is not None:
        a.say(f"{int(t.kept_blocks.sum())} of {t.kept_blocks.size} blocks are recorded: --blocks and --record-limit choose them")
    if t.ended:
        a.say(f"the launch ended early: {t.ended}", "stderr")


@request("configurationDone")
def configuration_done(a: Adapter, args: RequestArguments) -> Body:
    """The breakpoints are set: goes to the first of them."""
    a.configured = True
    if a.prompt is not None and a.launched is not None and not a.launched.flag("noDebug"):
        run_to_first_stop(a)
    return None


@request("restart")
def restart(a: Adapter, args: RequestArguments) -> Body:
    """Launches the program again, as its file is now."""
    if a.launched is None:
        raise UsageError("nothing is launched yet")
    if "arguments" in args.values:
        a.launched = args.inner("arguments")
    _begin(a)
    run_to_first_stop(a)
    return None


@request("terminate")
def terminate(a: Adapter, args: RequestArguments) -> Body:
    """Ends the debugging; a later `disconnect` ends the adapter."""
    a.prompt = None
    a.afterwards("terminated")
    return None


@request("disconnect")
def disconnect(a: Adapter, args: RequestArguments) -> Body:
    """The client leaves."""
    a.over = True
    return None


@request("cancel")
def cancel(a: Adapter, args: RequestArguments) -> Body:
    """Requests are answered in turn: what is to be cancelled is answered already."""
    return None
