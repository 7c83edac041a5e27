/** Copies of files into a workspace, which go on where they were interrupted. */
import { AtelierError, type Sandbox } from "@atelier/client"
import { createHash } from "node:crypto"
import { createReadStream, type Stats } from "node:fs"
import { stat } from "node:fs/promises"
import { posix, resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Failure } from "../Failure.js"
import type { Session } from "../Session.js"
import { bytesText } from "../terminal/text.js"
import { unless, webStream } from "./copy.js"
import { partName } from "./partName.js"

export type Watch = (bytes: () => number) => void

interface Upload {
  readonly path: string
  readonly found: Stats
  readonly place: string
  /** Is told how to find the number of bytes that were read until now. */
  readonly watch: Watch
}

/** Bytes of one request. An interrupted copy loses what of the last one had not arrived. */
const piece = 32 * 1024 * 1024

/** Of a part until its last bytes: the mode of the file may keep its own user from writing. */
const ownerAlone = "0600"

/** Milliseconds that another request may add to the part, such as one of an interrupted copy, and between two attempts. */
const patience = 15_000
const interval = 250

const modeOf = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, "0")

/** Where a copy is until it is whole: beside its place, under a name that belongs to this version of this file alone. */
const partOf = ({ found: { dev, ino, mtimeMs, size }, path, place }: Upload): string => {
  const version = createHash("sha256")
    .update(JSON.stringify([resolve(path), dev, ino, mtimeMs, size]))
    .digest("base64url")
  return posix.join(posix.dirname(place), partName(posix.basename(place), version.slice(0, 24)))
}

/** Whether another request adds to the part, or has just done so. */
const isTaken = (error: unknown): boolean =>
  error instanceof AtelierError && (error.status === 412 || (error.status === 409 && error.detail === "EBUSY"))

/** The bytes of a file from an offset on, or of a piece of it, whose number is watched. */
const watched = ({ path, watch }: Upload, start = 0, end = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> => {
  const file = createReadStream(path, { start, end })
  watch(() => start + file.bytesRead)
  return webStream(file)
}

/** Copies the rest of a file to its part; undefined if the agent is too old to add to a file. */
const addTo = async (part: string, start: number, upload: Upload, { files }: Sandbox, signal: AbortSignal) => {
  const { found } = upload
  let until = performance.now() + patience
  for (let offset = start; offset < found.size;) {
    const end = Math.min(offset + piece, found.size)
    const bytes = watched(upload, offset, end - 1)
    const mode = end === found.size ? modeOf(found) : ownerAlone
    try {
      const { size } = await files.write(part, bytes, { offset, mode, signal })
      if (size === end - offset && offset > 0) return undefined
      if (size !== end) throw new Failure({ message: `${part}: another copy writes to it.`, hint: "copy it again." })
      offset = end
      until = performance.now() + patience
    } catch (error) {
      if (!isTaken(error) || performance.now() > until) throw error
      await pause(interval, undefined, { signal })
      offset = (await unless(files.stat(part, { signal })))?.size ?? 0
    }
  }
  return found.size
}

/** Copies a file of this machine into a workspace, and returns its size. */
export const uploadFile = async (sandbox: Sandbox, upload: Upload, { out, signal }: Session): Promise<number> => {
  const { found, path, place } = upload
  const { files } = sandbox
  const target = await unless(files.stat(place, { signal }))
  const isPlain = target === undefined || target.type === "file"
  // A link or a device is written through, and a short file is not worth a second request
  if (!isPlain || found.size <= piece) {
    return (await files.write(place, watched(upload), { mode: modeOf(found), signal })).size
  }
  const part = partOf(upload)
  const start = (await unless(files.stat(part, { signal })))?.size ?? 0
  if (start > 0) out.say(`Going on after ${bytesText(start)}.`)
  const written = await addTo(part, start, upload, sandbox, signal)
  if (written === undefined) {
    await files.remove(part, { signal })
    return (await files.write(place, watched(upload), { mode: modeOf(found), signal })).size
  }
  const now = await stat(path)
  if (now.size !== found.size || now.mtimeMs !== found.mtimeMs) {
    await files.remove(part, { signal })
    throw new Failure({ message: `${path}: changed while it was copied.`, hint: "copy it again." })
  }
  await files.move(part, place, { overwrite: true, signal })
  return written
}
