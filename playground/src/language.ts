// How PTX and CUDA C++ are coloured.
import { HighlightStyle, StreamLanguage, type StreamParser, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const TYPE = /^\.(pred|[bsu](8|16|32|64|128)|b?f16(x2)?|f(32|64)|tf32)\b/;
const WORDS = new Set("if else for while do return int unsigned float double char short long bool void const auto struct template typename __global__ __device__ __shared__ __constant__ __restrict__ __syncthreads extern static inline true false using namespace sizeof class".split(" "));

const common = (stream: Parameters<StreamParser<{ comment: boolean }>["token"]>[0], state: { comment: boolean }): string | null | undefined => {
  if (state.comment || stream.match("/*")) {
    state.comment = !stream.match(/^.*?\*\//);
    if (state.comment) stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/^\/\/@.*/)) return "meta";
  if (stream.match(/^\/\/.*/)) return "comment";
  if (stream.match(/^"[^"]*"?/)) return "string";
  if (stream.eatSpace()) return null;
  return undefined;
};

// Directives that end with their line, not with a semicolon
const LINE = new Set([".version", ".target", ".address_size", ".file", ".loc"]);

const ptxParser: StreamParser<{ comment: boolean; fresh: boolean; ends: boolean }> = {
  name: "ptx",
  startState: () => ({ comment: false, fresh: true, ends: false }),
  token(stream, state) {
    if (stream.sol() && state.ends) {
      state.fresh = true;
      state.ends = false;
    }
    const found = common(stream, state);
    if (found !== undefined) return found;
    const fresh = state.fresh;
    if (stream.match(/^@!?%?[\w$]+/)) return "meta";
    if (stream.match(/^[;{}]/)) { state.fresh = true; return null; }
    if (stream.match(/^0[fFdDxX][0-9A-Fa-f]+|^\d[\w.]*/)) return "number";
    if (stream.match(/^%(n?tid|n?ctaid|laneid|warpid|clock\w*|lanemask\w*|globaltimer\w*|smid)(\.[xyzw])?\b/)) return "atom";
    if (stream.match(TYPE)) return "typeName";
    const dotted = stream.match(/^\.[a-z_][\w]*(::\w+)*/i) as RegExpMatchArray | null;
    if (dotted !== null) {
      state.ends ||= fresh && LINE.has(dotted[0]);
      state.fresh = false;
      return fresh ? "keyword" : "modifier";
    }
    if (stream.match(/^[A-Za-z_$%][\w$]*/)) {
      if (fresh && stream.match(/^\s*:(?!:)/, false)) return "labelName";
      state.fresh = false;
      return fresh ? "keyword" : "variableName";
    }
    if (stream.match(/^:/)) { state.fresh = true; return null; }
    stream.next();
    return null;
  },
};

const cudaParser: StreamParser<{ comment: boolean }> = {
  name: "cuda",
  startState: () => ({ comment: false }),
  token(stream, state) {
    const found = common(stream, state);
    if (found !== undefined) return found;
    if (stream.match(/^#\s*\w+/)) return "meta";
    if (stream.match(/^\d[\w.]*/)) return "number";
    if (stream.match(/^(threadIdx|blockIdx|blockDim|gridDim|warpSize)\b/)) return "atom";
    const m = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (m !== null) return WORDS.has(m[0]) ? "keyword" : "variableName";
    stream.next();
    return null;
  },
};

export const ptx = StreamLanguage.define(ptxParser);
export const cuda = StreamLanguage.define(cudaParser);
export const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.meta, color: "var(--accent)" },
  { tag: tags.string, color: "var(--hue2)" },
  { tag: tags.number, color: "var(--hue3)" },
  { tag: tags.keyword, color: "var(--hue0)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--hue2)" },
  { tag: tags.modifier, color: "var(--hue0)" },
  { tag: tags.atom, color: "var(--hue3)" },
  { tag: tags.labelName, color: "var(--accent)", fontWeight: "600" },
]));
