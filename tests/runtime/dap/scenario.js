// Debugs a kernel that Triton made with the client that VS Code's authors test adapters with, and prints what it sees as JSON:
// node scenario.js PYTHON ADAPTER PROGRAM ARGS SOURCE LINE CONDITION REGISTER
const path = require("path");
const { DebugClient } = require(require.resolve("@vscode/debugadapter-testsupport", { paths: [__dirname, process.cwd()] }));

const [python, adapter, program, args, source, line, condition, register] = process.argv.slice(2);
const client = new DebugClient(python, adapter, "warplab");
client.defaultTimeout = 60000;

async function stopped(request) {
    const [event] = await Promise.all([client.waitForEvent("stopped"), request()]);
    const threadId = event.body.threadId;
    const top = (await client.stackTraceRequest({ threadId })).body.stackFrames[0];
    return { reason: event.body.reason, threadId, frame: top.id, line: top.line, file: path.basename(top.source.path) };
}

async function variable(frameId, scope, name) {
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    const { variablesReference } = scopes.find((s) => s.name === scope);
    const { variables } = (await client.variablesRequest({ variablesReference })).body;
    return variables.find((v) => v.name === name);
}

async function main() {
    const seen = {};
    await client.start();
    seen.stepBack = (await client.initializeRequest()).body.supportsStepBack;
    const initialized = client.waitForEvent("initialized");
    await client.launchRequest({ program, args });
    await initialized;
    const set = await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [{ line: Number(line), condition }] });
    seen.verified = set.body.breakpoints.map((b) => b.verified);
    seen.first = await stopped(() => client.configurationDoneRequest());
    const { threadId } = seen.first;
    seen.threads = (await client.threadsRequest()).body.threads.length;
    seen.back = await stopped(() => client.customRequest("stepBack", { threadId }));
    const { type, variablesReference } = await variable(seen.back.frame, "Registers", register);
    const lanes = (await client.variablesRequest({ variablesReference })).body.variables;
    seen.register = { type, lanes: lanes.map((v) => Number(v.value)) };
    seen.refused = await client.setVariableRequest({ variablesReference, name: "[0]", value: "0" }).catch((e) => e.message);
    seen.again = await stopped(() => client.continueRequest({ threadId }));
    seen.begin = await stopped(() => client.customRequest("reverseContinue", { threadId }));
    await client.stop();
    console.log(JSON.stringify(seen));
}

main().catch((e) => {
    console.error(e);
    process.exitCode = 1;
});
