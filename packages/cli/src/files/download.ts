/** Copies out of a workspace. Its agent may be any program of its user's: what it answers chooses no place on this machine. */
import type { Sandbox } from "@atelier/client"
import { createWriteStream } from "node:fs"
import { chmod, lstat, mkdir, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join, posix } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { Failure, usage, writeFailure } from "../Failure.js"
import type { Session } from "../Session.js"
import { bytesText, counted } from "../terminal/text.js"
import { type End, noSuchFile, type Report, unless } from "./copy.js"
import { partName } from "./partName.js"
import { unpack } from "./tar.js"

const total = (
  count: number
): { readonly stream: (from: ReadableStream<Uint8Array>) => AsyncGenerator<Uint8Array>; readonly bytes: () => number } => {
  let bytes = count
  return {
    bytes: () => bytes,
    stream: async function* (from) {
      for await (const chunk of from) {
        bytes += chunk.length
        yield chunk
      }
    }
  }
}

/** The part of a file that an interrupted copy has left, if it is of the same file. A link at its place, which a copy of a directory may have made, is removed. */
const partOf = async (path: string, etag: string) => {
  const file = join(dirname(path), partName(basename(path), Buffer.from(etag).toString("base64url").slice(0, 24)))
  const found = await unless(lstat(file))
  if (found === undefined || found.isFile()) return { file, size: found?.size ?? 0 }
  await rm(file, { force: true })
  return { file, size: 0 }
}

/**
 * The name of a copy in a directory: that of the path as the user has written it, since the workspace's answer could name any other file. Empty for a path
 * such as `.`, whose files come into the directory itself.
 */
const nameIn = (path: string): string => {
  const name = posix.basename(path)
  return name === "." || name === ".." ? "" : name
}

/** Copies a file out of a workspace. An interrupted copy goes on where it was, as long as the file is the same. */
const downloadFile = async (sandbox: Sandbox, path: string, target: string, { out, signal }: Session, report: Report): Promise<string> => {
  const { etag, mode, size } = await sandbox.files.stat(path, { signal })
  const part = await partOf(target, etag ?? "")
  const start = part.size > size ? 0 : part.size
  if (start > 0) out.say(`Going on after ${bytesText(start)}.`)
  const received = total(start)
  report({ bytes: received.bytes, size })
  const from = await sandbox.files.stream(path, { start, signal })
  await mkdir(dirname(target), { recursive: true })
  // The mode of the file may keep its own user from writing: it comes last
  const file = createWriteStream(part.file, { flags: start === 0 ? "w" : "a", mode: 0o600 })
  await pipeline(received.stream(from), file, { signal }).catch((error: unknown) => {
    throw writeFailure(error, target)
  })
  if (received.bytes() !== size) {
    await rm(part.file, { force: true })
    throw new Failure({ message: `${path}: changed while it was copied.`, hint: "copy it again." })
  }
  await chmod(part.file, Number.parseInt(String(mode), 8) & 0o777 & ~process.umask())
  await rename(part.file, target)
  return bytesText(size)
}

/** Copies from a workspace to this machine. */
export const download = async (sandbox: Sandbox, path: string, target: End, session: Session, report: Report): Promise<string> => {
  const { signal, stdout } = session
  if (target.kind === "stream") {
    const received = total(0)
    for await (const bytes of received.stream(await sandbox.files.stream(path, { signal }))) {
      if (!stdout.write(bytes)) await new Promise((resolve) => stdout.once("drain", resolve))
    }
    return bytesText(received.bytes())
  }
  if (target.kind === "remote") throw usage("A copy between two workspaces goes through this machine: make it in two steps.")
  const entry = await unless(sandbox.files.stat(path, { signal }))
  if (entry === undefined) throw noSuchFile(path)
  const isDirectory = (await unless(stat(target.path)))?.isDirectory() === true
  const place = isDirectory ? join(target.path, nameIn(path)) : target.path
  if (entry.type !== "directory") return downloadFile(sandbox, path, place, session, report)
  // A copy of before may have made it, to lead this one elsewhere
  if (place !== target.path && (await unless(lstat(place)))?.isSymbolicLink() === true)
    throw new Failure({
      message: `${place}: is a link, which a directory does not replace.`,
      hint: "remove it, or name where it leads to."
    })
  await mkdir(place, { recursive: true })
  const { bytes, entries } = await unpack(Readable.from(await sandbox.files.download(path, { signal })), place, signal)
  return `${counted("entry", entries, "entries")}, ${bytesText(bytes)}`
}
