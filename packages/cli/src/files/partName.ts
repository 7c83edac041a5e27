/** Names of files that are not whole yet, beside their place. */
import { createHash } from "node:crypto"

/** Bytes of a name in most file systems. */
const longest = 255

/** The name of a part: hidden, with the name of the file, or with a digest of a name that leaves no room, and the version that it is a part of. */
export const partName = (name: string, version: string): string => {
  const named = `.${name}.${version}.part`
  if (Buffer.byteLength(named) <= longest) return named
  return `.${createHash("sha256").update(name).digest("base64url")}.${version}.part`
}
