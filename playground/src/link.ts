// A link that carries the program: compressed in the fragment, which no server sees.

export interface Carried { text: string; language: string }

async function through(stream: CompressionStream | DecompressionStream, data: Uint8Array): Promise<Uint8Array> {
  const out = new Blob([data as BlobPart]).stream().pipeThrough(stream as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(out as unknown as BodyInit).arrayBuffer());
}

export async function packed(program: Carried): Promise<string> {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(program.text));
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return `#${program.language}=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The program of a fragment; null where it holds none. */
export async function unpacked(fragment: string): Promise<Carried | null> {
  const m = /^#(ptx|cu)=([\w-]+)$/.exec(fragment);
  if (m === null) return null;
  const binary = atob(m[2].replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  return { language: m[1], text: new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)) };
}
