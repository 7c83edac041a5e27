/** Bytes that were compressed, unpacked by the browser itself. */
import { ArchiveError } from "./archive.js"

/** Unpacks bytes into at most so many. @throws ArchiveError */
export const inflated = async (
  bytes: Uint8Array<ArrayBuffer>,
  format: "gzip" | "deflate-raw",
  most: number
): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = []
  let length = 0
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader()
  const next = () =>
    reader.read().catch(() => {
      throw new ArchiveError("The archive cannot be unpacked: it is cut or changed.")
    })
  for (let read = await next(); !read.done; read = await next()) {
    length += read.value.length
    if (length > most) {
      // The remaining bytes are not unpacked
      void reader.cancel().catch(() => undefined)
      throw new ArchiveError("The archive is too large when it is unpacked.")
    }
    parts.push(read.value)
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
