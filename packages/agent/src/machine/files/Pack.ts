/** A directory as a tar. */
import type { Stats } from "node:fs"
import { lstat, readlink } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { type Header, type Pack, pack } from "tar-stream"
import { openFile, requireDirectory, write } from "./Download.js"
import { drained } from "./drained.js"
import { at, codeOf } from "./FileError.js"
import { type Found, walk } from "./Walk.js"

/** Names of one directory that are in memory at a time. */
const batch = 100_000

/** Bytes of a file that are read at a time. */
const pieceBytes = 128 * 1024

type Named = Partial<Header> & Pick<Header, "name">

type Sink = ReturnType<Pack["entry"]>

const permissionBits = 0o7777

const headerOf = (name: string, { gid, mode, mtime, uid }: Stats): Named => ({ name, uid, gid, mtime, mode: mode & permissionBits })

/** Adds an entry, and its bytes. */
const add = (tar: Pack, header: Named, fill?: (entry: Sink) => Promise<void>): Promise<void> =>
  new Promise((resolve, reject) => {
    const entry = tar.entry(header, (error) => (error ? reject(error) : resolve()))
    fill?.(entry).catch((error: unknown) => {
      entry.destroy()
      reject(error)
    })
  })

/** Adds a file as long as it was when it was opened: zeros follow where it became shorter. */
const addFile = async (tar: Pack, path: Buffer, name: string): Promise<void> => {
  const handle = await openFile(path)
  try {
    const stats = await handle.stat()
    await add(tar, { ...headerOf(name, stats), type: "file", size: stats.size }, async (entry) => {
      for (let position = 0; position < stats.size && !entry.destroyed;) {
        const piece = Buffer.alloc(Math.min(pieceBytes, stats.size - position))
        const { bytesRead } = await handle.read(piece, 0, piece.length, position)
        const length = bytesRead === 0 ? piece.length : bytesRead
        position += length
        if (!entry.write(piece.subarray(0, length))) await drained(entry)
      }
      entry.end(null)
    })
  } finally {
    await handle.close()
  }
}

const addFound = async (tar: Pack, { kind, path, relative }: Found): Promise<void> => {
  const name = relative.toString()
  if (kind === "file") return addFile(tar, path, name)
  const stats = await lstat(path)
  if (kind === "directory") return add(tar, { ...headerOf(`${name}/`, stats), type: "directory" })
  // Pipes, sockets and devices are left out
  if (kind === "symlink") return add(tar, { ...headerOf(name, stats), type: "symlink", linkname: await readlink(path) })
}

const addAll = async (tar: Pack, directory: string, signal: AbortSignal): Promise<void> => {
  for await (const found of walk(directory, { depth: Number.POSITIVE_INFINITY, batch, unreadable: "fail", signal })) {
    signal.throwIfAborted()
    await at(found.path.toString(), () => addFound(tar, found)).catch((error: unknown) => {
      // It is gone since the directory was read
      if (codeOf(error) !== "ENOENT") throw error
    })
  }
  tar.finalize()
}

/** Answers with what a directory holds. An entry that cannot be read breaks the answer off. */
export const archive = async (directory: string, response: ServerResponse, signal: AbortSignal): Promise<void> => {
  await requireDirectory(directory)
  const tar = pack()
  response.writeHead(200, { "content-type": "application/x-tar" })
  const adding = addAll(tar, directory, signal).catch((error: unknown) => void tar.destroy(error instanceof Error ? error : undefined))
  try {
    for await (const chunk of tar) if (chunk instanceof Uint8Array) await write(response, chunk)
    response.end()
  } finally {
    tar.destroy()
    await adding
  }
}
