/** Reads of files. */
import { constants } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { precondition, rangeOf } from "./Conditions.js"
import { etagOf, modeTextOf } from "./Entry.js"
import { drained } from "./drained.js"
import { refusal } from "./FileError.js"

/** Bytes that are read at a time. */
const pieceBytes = 128 * 1024

/** Sizes up to which a file is read before its answer begins: the files that a kernel makes while they are read tell a wrong size. */
const smallBytes = 64 * 1024

/** The client has gone away: there is no answer any more. */
export class Gone extends Error {}

/** Writes to an answer, no faster than its client reads. Fails with `Gone` if the client has gone away. */
export const write = async (response: ServerResponse, bytes: Uint8Array, done?: () => void): Promise<void> => {
  if (response.destroyed) throw new Gone()
  if (!response.write(bytes, done)) await drained(response)
  if (response.destroyed) throw new Gone()
}

/** Sends bytes of a file from a position. Answers how many there were, at most `length`. */
export const send = async (handle: FileHandle, response: ServerResponse, start: number, length: number): Promise<number> => {
  // A piece is used again once its bytes are on their way
  const free: Array<Buffer> = []
  let sent = 0
  while (sent < length) {
    const piece = free.pop() ?? Buffer.allocUnsafeSlow(Math.min(pieceBytes, length))
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, length - sent), start + sent)
    if (bytesRead === 0) break
    sent += bytesRead
    await write(response, piece.subarray(0, bytesRead), () => void free.push(piece))
  }
  return sent
}

/** Opens a regular file. Anything else is refused before it could block: a pipe, a device, a socket. */
export const openFile = async (path: string | Buffer): Promise<FileHandle> => {
  const refuse = (isDirectory: boolean): never => {
    throw refusal(409, path.toString(), isDirectory ? "is a directory" : "is not a regular file", isDirectory ? "EISDIR" : "ENXIO")
  }
  const before = await stat(path)
  if (!before.isFile()) refuse(before.isDirectory())
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) refuse(stats.isDirectory())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Sends a file whose size is not known: what is read first, and then the rest in chunks. */
const sendUnknown = async (handle: FileHandle, response: ServerResponse, first: Uint8Array): Promise<void> => {
  response.writeHead(200)
  await write(response, first)
  await send(handle, response, first.length, Number.MAX_SAFE_INTEGER)
  response.end()
}

/** Reads as many bytes as there are, at most those of a small file and one more. */
const readSmall = async (handle: FileHandle): Promise<Buffer> => {
  const buffer = Buffer.allocUnsafe(smallBytes + 1)
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

const answer = async (path: string, handle: FileHandle, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const stats = await handle.stat({ bigint: true })
  const size = Number(stats.size)
  const validators = { etag: etagOf(stats), modified: Number(stats.mtimeMs) }
  const verdict = precondition(request.headers, validators, true)
  if (verdict === "failed") throw refusal(412, path, "is not the version that the request names")
  response.setHeader("etag", validators.etag)
  response.setHeader("last-modified", stats.mtime.toUTCString())
  if (verdict === "not modified") return void response.writeHead(304).end()

  response.setHeader("accept-ranges", "bytes")
  response.setHeader("x-file-mode", modeTextOf(stats))
  const range = request.method === "GET" ? rangeOf(request.headers, size, validators) : undefined
  if (range === "unsatisfiable") {
    response.setHeader("content-range", `bytes */${size}`)
    throw refusal(416, path, `has only ${size} bytes`)
  }
  response.setHeader("content-type", "application/octet-stream")
  if (request.method === "HEAD") return void response.writeHead(200, { "content-length": size }).end()
  if (range !== undefined) {
    const length = range.end - range.start + 1
    response.writeHead(206, { "content-length": length, "content-range": `bytes ${range.start}-${range.end}/${size}` })
    return finish(response, length, await send(handle, response, range.start, length))
  }
  if (size > smallBytes) {
    response.writeHead(200, { "content-length": size })
    return finish(response, size, await send(handle, response, 0, size))
  }
  const bytes = await readSmall(handle)
  if (bytes.length > smallBytes) return sendUnknown(handle, response, bytes)
  response.writeHead(200, { "content-length": bytes.length }).end(bytes)
}

/** Ends an answer; breaks it off where the file became shorter while it was sent. */
const finish = (response: ServerResponse, promised: number, sent: number): void => {
  if (sent < promised) response.destroy()
  else response.end()
}

/** Answers GET and HEAD of a file. */
export const download = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const handle = await openFile(path)
  try {
    await answer(path, handle, request, response)
  } finally {
    await handle.close()
  }
}

/** Fails with 409 where a path is not that of a directory. */
export const requireDirectory = async (path: string): Promise<void> => {
  if (!(await stat(path)).isDirectory()) throw refusal(409, path, "is not a directory", "ENOTDIR")
}

/** Fails once the client of an answer is gone. */
export const requireClient = (response: ServerResponse): void => {
  if (response.destroyed) throw new Gone()
}
