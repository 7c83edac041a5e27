/** The paths of requests: absolute, or relative to the agent's directory. */
import { lstat, readlink } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { FileError, refusal, unlessMissing } from "./FileError.js"

/** Bytes of a path, without the system's NUL at its end. */
const maximumPath = 4095

/** Links that are followed one after the other, as Linux does. */
const maximumLinks = 40

/** Reads a path. Fails with 400 where it is absent, empty, too long or has a NUL. */
export const filePath = (text: string | undefined, directory: string, name = "path"): string => {
  if (text === undefined || text === "") throw new FileError(400, `The parameter "${name}" is missing.`)
  if (text.includes("\0")) throw refusal(400, text.replaceAll("\0", "�"), "has a NUL character")
  if (!text.isWellFormed()) throw refusal(400, text.toWellFormed(), "is not valid Unicode")
  const path = resolve(directory, text)
  if (Buffer.byteLength(path) > maximumPath) throw refusal(400, text, `is longer than ${maximumPath} bytes`, "ENAMETOOLONG")
  return path
}

/** The path that a write to `path` changes: the target of its symbolic links, which need not exist. */
export const destinationOf = async (path: string): Promise<string> => {
  let destination = path
  for (let followed = 0; followed <= maximumLinks; followed++) {
    const current = destination
    const found = await unlessMissing(() => lstat(current))
    if (found === undefined || !found.isSymbolicLink()) return destination
    destination = resolve(dirname(destination), await readlink(destination))
  }
  throw refusal(400, path, "leads through too many symbolic links", "ELOOP")
}
