// Files that scenarios name, sent to the server: a stream of messages, which browsers can send as one body. The file is read as it
// is sent, and never as a whole but for its digest.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import { FileService, UploadFileRequestSchema, UploadFileResponseSchema } from "./generated/tailback/v1/file_service_pb";
import { authorization, call, CALL_MS, note, system } from "./server";

/** Bytes of content in a message: with all that is around it, it has to be less than 1 MiB. */
const PIECE_BYTES = 1 << 19;
/** A message of the answer, and its end. */
const [MESSAGE, TRAILERS] = [0, 0x80];
/** The field `content` of a message, which follows as bytes of a length. */
const CONTENT_TAG = 0x12;

/** Sends a file; gives the SHA-256 that a scenario names it by. */
export async function upload(file: File, signal: AbortSignal): Promise<string> {
    // Nobody waits for a large file to be read that cannot be kept.
    const { limits } = await call(system.getServerInfo({}, { signal, timeoutMs: CALL_MS }));
    if (limits && BigInt(file.size) > limits.fileBytesMax) throw new ConnectError(`it has ${file.size} bytes, the limit (file_bytes_max) is ${limits.fileBytesMax}`, Code.ResourceExhausted);
    const sha256 = await digest(file);
    const header = create(UploadFileRequestSchema, { part: { case: "header", value: { name: file.name, size: BigInt(file.size), sha256 } } });
    const body: BlobPart[] = framed([toBinary(UploadFileRequestSchema, header)]);
    for (let at = 0; at < file.size; at += PIECE_BYTES) {
        const piece = file.slice(at, at + PIECE_BYTES);
        body.push(...framed([Uint8Array.from([CONTENT_TAG, ...varint(piece.size)]), piece]));
    }
    const headers = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1", ...authorization() };
    const path = `/${FileService.typeName}/${FileService.method.uploadFile.name}`;
    try {
        const response = await fetch(path, { method: "POST", headers, body: new Blob(body), signal });
        return answer(response.headers, new Uint8Array(await response.arrayBuffer()));
    } catch (error) {
        note(error);
        throw error;
    }
}

/** Browsers have digests only where nobody can change what they show: over https, and on this machine. */
async function digest(file: File): Promise<string> {
    if (!crypto.subtle) throw new ConnectError("files can be sent over https only, or to this machine", Code.FailedPrecondition);
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A message in the form of gRPC-Web: a byte for its kind, four for its length, and its parts. */
function framed(parts: (Uint8Array<ArrayBuffer> | Blob)[]): BlobPart[] {
    const length = parts.reduce((sum, part) => sum + (part instanceof Blob ? part.size : part.length), 0);
    const head = new Uint8Array(5);
    new DataView(head.buffer).setUint32(1, length);
    return [head, ...parts];
}

function varint(value: number): number[] {
    return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** The digest that the server has kept the file by, or why it has not. */
function answer(headers: Headers, bytes: Uint8Array): string {
    let sha256: string | undefined;
    // A refusal may come without any message, in the headers.
    const trailers = new Map([...headers].map(([name, value]) => [name, value]));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at + 5 <= bytes.length; ) {
        const [kind, length] = [view.getUint8(at), view.getUint32(at + 1)];
        const part = bytes.subarray(at + 5, at + 5 + length);
        if (kind === MESSAGE) sha256 = fromBinary(UploadFileResponseSchema, part).file?.sha256;
        if (kind === TRAILERS) {
            for (const line of new TextDecoder().decode(part).split("\r\n")) {
                const [name = "", value = ""] = line.split(/:(.*)/s);
                trailers.set(name.toLowerCase(), value.trim());
            }
        }
        at += 5 + length;
    }
    const status = trailers.get("grpc-status");
    if (status === "0" && sha256) return sha256;
    const code = Number(status);
    const message = decodeURIComponent(trailers.get("grpc-message") ?? "the server does not answer");
    throw new ConnectError(message, code in Code ? code : Code.Unavailable);
}
