/** The runtime of agents as one archive. Containers mount what it holds, read-only, whatever image they have. docs/agent.md, "In a container". */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import * as fs from "node:fs/promises"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { pack } from "tar-stream"
import { ofFolder, ofThisMachine, RuntimeError, type RuntimeFile } from "./RuntimeFiles.js"

export interface RuntimeOptions {
  /** The folder of a runtime that another machine has made, for containers of another architecture than this machine's. */
  readonly directory?: string | undefined
}

export interface RuntimeArchive {
  /** 16 hexadecimal digits that are the same for the same content. */
  readonly version: string
  /** Bytes of the files. */
  readonly size: number
  /** A tar of the files, whose bytes are the same each time. Paths begin at the folder of the runtime. */
  readonly tar: () => Readable
}

interface Measured extends RuntimeFile {
  readonly size: number
  readonly digest: string
}

const contentOf = ({ source }: RuntimeFile): Readable =>
  source._tag === "File" ? createReadStream(source.path) : Readable.from([Buffer.from(source.text)])

const measured = async (file: RuntimeFile): Promise<Measured> => {
  const hash = createHash("sha256")
  await pipeline(contentOf(file), hash)
  const size = file.source._tag === "File" ? (await fs.stat(file.source.path)).size : Buffer.byteLength(file.source.text)
  return { ...file, size, digest: hash.digest("hex") }
}

const foldersOf = (files: ReadonlyArray<RuntimeFile>): ReadonlyArray<string> => {
  const folders = new Set<string>()
  for (const { path } of files) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) folders.add(path.slice(0, end))
  }
  return [...folders].toSorted()
}

/** Owners and times would differ between machines, and say nothing. */
const header = { mtime: new Date(0), uid: 0, gid: 0 }

const tarOf = (files: ReadonlyArray<Measured>): Readable => {
  const packing = pack()
  const write = async () => {
    for (const folder of foldersOf(files)) packing.entry({ ...header, name: `${folder}/`, type: "directory", mode: 0o755 })
    for (const file of files) {
      const entry = packing.entry({ ...header, name: file.path, size: file.size, mode: file.isProgram ? 0o755 : 0o644 })
      await pipeline(contentOf(file), entry)
    }
    packing.finalize()
  }
  write().catch((cause: unknown) => packing.destroy(cause instanceof Error ? cause : new Error(String(cause))))
  return Readable.from(packing, { objectMode: false })
}

/** Reads a runtime, and makes its archive. Fails with `RuntimeError` if no runtime is found for the containers. */
export const runtimeArchive = ({ directory }: RuntimeOptions = {}): Effect.Effect<RuntimeArchive, RuntimeError> =>
  Effect.gen(function* () {
    const found = yield* directory === undefined ? ofThisMachine : ofFolder(directory)
    const sorted = found.toSorted((one, other) => (one.path < other.path ? -1 : 1))
    const files = yield* Effect.tryPromise({
      try: () => Promise.all(sorted.map(measured)),
      catch: (cause) =>
        new RuntimeError({ message: `the agent's runtime cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` })
    })
    const hash = createHash("sha256")
    for (const { digest, isProgram, path } of files) hash.update(`${path}\0${isProgram}\0${digest}\n`)
    return {
      version: hash.digest("hex").slice(0, 16),
      size: files.reduce((sum, { size }) => sum + size, 0),
      tar: () => tarOf(files)
    }
  })
