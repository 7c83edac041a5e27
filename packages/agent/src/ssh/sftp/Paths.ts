/** Paths as clients send them: bytes, which need not be text. */
import { promises as fs } from "node:fs"

const slash = 0x2f
const tilde = 0x7e

export interface Places {
  readonly directory: string
  readonly home: string
}

/** An absolute path, or one below the directory in which sessions begin. */
export const absolute = ({ directory }: Places, path: Buffer): Buffer =>
  path[0] === slash ? path : Buffer.concat([Buffer.from(directory), Buffer.from("/"), path.length === 0 ? Buffer.from(".") : path])

/** The same with the home directory in the place of a tilde. */
export const expanded = (places: Places, path: Buffer): Buffer => {
  const isHome = path[0] === tilde && (path.length === 1 || path[1] === slash)
  return isHome ? Buffer.concat([Buffer.from(places.home), path.subarray(1)]) : absolute(places, path)
}

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/** The path without links and dots. Its last part need not exist. */
export const real = async (path: Buffer): Promise<Buffer> => {
  try {
    return await fs.realpath(path, { encoding: "buffer" })
  } catch (cause) {
    let end = path.length
    while (end > 1 && path[end - 1] === slash) end -= 1
    const cut = path.subarray(0, end).lastIndexOf(slash)
    const name = path.subarray(cut + 1, end)
    if (!isMissing(cause) || cut < 0 || [".", "..", ""].includes(name.toString("latin1"))) throw cause
    const folder = await fs.realpath(cut === 0 ? Buffer.from("/") : path.subarray(0, cut), { encoding: "buffer" })
    return Buffer.concat([folder, Buffer.from(folder.length === 1 ? "" : "/"), name])
  }
}
