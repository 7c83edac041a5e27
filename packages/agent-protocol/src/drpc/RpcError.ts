import { Data } from "effect"

/** Code of an answer to an unknown or unsupported method. */
export const unimplementedCode = 12

/** The peer answered a call with an error, or a handler does. Application errors have code 0. */
export class RpcError extends Data.TaggedError("RpcError")<{ readonly code: number; readonly message: string }> {}

/**
 * A call got no answer:
 * - `connection`: the session or the stream ended first
 * - `protocol`: the peer's packets make no sense
 * - `message`: the request or the response is not a valid message
 */
export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly reason: "connection" | "protocol" | "message"
  readonly message: string
}> {}

/** Bytes of an error's text; longer ones are cut. */
const maximumTextBytes = 32 * 1024

/** Data of an error packet: the code as 8 bytes big-endian, then the text in UTF-8. */
export const encode = ({ code, message }: RpcError): Uint8Array => {
  const text = new TextEncoder().encode(message).subarray(0, maximumTextBytes)
  const bytes = new Uint8Array(8 + text.length)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(code))
  bytes.set(text, 8)
  return bytes
}

export const decode = (data: Uint8Array): RpcError => {
  if (data.length < 8) return new RpcError({ code: 0, message: new TextDecoder().decode(data) })
  const code = Number(new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(0))
  return new RpcError({ code, message: new TextDecoder().decode(data.subarray(8)) })
}
