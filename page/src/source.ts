// The source of answers (docs/decisions/0012): a path comes in, JSON or arrays go out. The page does not know whether a local
// server answers or the file from which the page was opened.

export type Numbers = Float32Array | Uint32Array | Int16Array | Uint16Array | Uint8Array;

export interface Block {
  data: Numbers; // row by row
  shape: number[];
}

export type Arrays = Record<string, Block>;

export interface Source {
  json<T>(path: string): Promise<T>;
  arrays(path: string): Promise<Arrays>;
}

const ARRAY_TYPES = { float32: Float32Array, uint32: Uint32Array, int16: Int16Array, uint16: Uint16Array, uint8: Uint8Array };
const ALIGNMENT = 4; // [bytes] every array begins at a multiple of this

/** The answers in the document if it has any, otherwise those of the server. */
export function openSource(): Source {
  const bytes = document.getElementById("runs") ? embedded : fetched;
  return {
    json: async <T>(path: string) => JSON.parse(new TextDecoder().decode(await bytes(path))) as T,
    arrays: async (path: string) => unpack(await gunzip(await bytes(path))),
  };
}

/** Sends JSON to the server and gives back its answer. */
export async function post<T>(path: string, content: unknown, signal?: AbortSignal): Promise<T> {
  const body = JSON.stringify(content);
  const request: RequestInit = { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
  return JSON.parse(new TextDecoder().decode(await answered(path, request))) as T;
}

const fetched = (path: string) => answered(path, {});

async function answered(path: string, request: RequestInit): Promise<Uint8Array> {
  let answer: Response;
  try {
    answer = await fetch("api/" + path.split("/").map(encodeURIComponent).join("/"), request);
  } catch (reason) {
    if (request.signal?.aborted) throw reason;
    throw new Error("the server does not answer: it has ended, or the page was opened without it; start it again and reload the page");
  }
  if (!answer.ok) throw new Error(await complaint(answer, path));
  return new Uint8Array(await answer.arrayBuffer());
}

async function complaint(answer: Response, path: string): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return `${path}: the server answers ${answer.status}`;
  }
}

async function embedded(path: string): Promise<Uint8Array> {
  const script = document.getElementById(path);
  if (!script) throw new Error(`${path} is not in this file; ask its author for a file that contains it`);
  const text = atob((script.textContent ?? "").trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function gunzip(bytes: Uint8Array): Promise<ArrayBuffer> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The arrays of an answer, which has the length of a list, the list, and the bytes of each array. */
function unpack(content: ArrayBuffer): Arrays {
  const length = new DataView(content).getUint32(0, true);
  const rows = JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length))) as {
    name: string; type: keyof typeof ARRAY_TYPES; shape: number[]; coded: boolean;
  }[];
  const arrays: Arrays = {};
  let at = 4 + length;
  for (const { name, type, shape, coded } of rows) {
    at += (ALIGNMENT - (at % ALIGNMENT)) % ALIGNMENT;
    const count = shape.reduce((product, size) => product * size, 1);
    const data = coded ? decodeDifferences(content, at, shape, count) : new ARRAY_TYPES[type](content, at, count);
    arrays[name] = { data: coded && type === "int16" ? new Int16Array(data.buffer) : data, shape };
    at += count * ARRAY_TYPES[type].BYTES_PER_ELEMENT;
  }
  return arrays;
}

/** Decodes differences along the first axis, modulo 2^16, stored as all low bytes and then all high bytes. */
function decodeDifferences(content: ArrayBuffer, at: number, shape: number[], count: number): Uint16Array {
  const low = new Uint8Array(content, at, count);
  const high = new Uint8Array(content, at + count, count);
  const values = new Uint16Array(count);
  const row = shape[0] ? count / shape[0] : 0;
  for (let i = 0; i < count; i++) values[i] = (low[i] | (high[i] << 8)) + (i >= row ? values[i - row] : 0);
  return values;
}
