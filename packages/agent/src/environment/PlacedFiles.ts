/** The files of a template, which its engine hands over as an archive. docs/agent.md, "In a container". */
import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { chmod, lstat, mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { extract } from "tar-stream"

/** The command of the agent's program that places files. */
export const command = "place"

/** The folders of the archive: the agent replaces existing files with those of the first, and leaves them alone for those of the second. */
const overwriting = "overwrite"
const once = "once"

const gzipMagic = [0x1f, 0x8b]

const isCompressed = async (archive: string): Promise<boolean> => {
  const file = await open(archive, "r")
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(gzipMagic.length), 0, gzipMagic.length, 0)
    return bytesRead === gzipMagic.length && gzipMagic.every((byte, index) => buffer[index] === byte)
  } finally {
    await file.close()
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

/** The file appears whole or not at all, and takes the place of a link instead of following it. */
const write = async (target: string, content: AsyncIterable<unknown>, mode: number): Promise<void> => {
  await mkdir(dirname(target), { recursive: true })
  const draft = `${target}.${randomUUID()}.new`
  try {
    const file = await open(draft, "wx", 0o600)
    await pipeline(content, file.createWriteStream())
    // The mode given to open is reduced by the process's umask
    await chmod(draft, mode & 0o777)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Where an entry belongs; undefined for one that is no file of a template. */
const placeOf = (name: string, directory: string): { readonly target: string; readonly isOnce: boolean } | undefined => {
  const [folder, ...names] = name.split("/").filter((part) => part !== "" && part !== ".")
  if ((folder !== overwriting && folder !== once) || names.length === 0) return undefined
  if (names.includes("..")) throw new Error(`${name} leads out of the directory`)
  return { target: join(directory, ...names), isOnce: folder === once }
}

/** Writes the files of an archive, a tar that may be compressed with gzip, into a directory. Rejects with the first file that cannot be written. */
export const place = async (archive: string, directory: string): Promise<void> => {
  const reader = extract()
  const stages = (await isCompressed(archive)) ? [createGunzip()] : []
  const reading = pipeline([createReadStream(archive), ...stages, reader])
  const writing = async () => {
    for await (const entry of reader) {
      const { mode, name, type } = entry.header
      const found = type === "file" ? placeOf(name, directory) : undefined
      if (found === undefined || (found.isOnce && (await exists(found.target)))) entry.resume()
      else await write(found.target, entry, mode ?? 0o644)
    }
  }
  await Promise.all([writing(), reading])
}
