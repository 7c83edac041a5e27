/**
 * Paths that stay where they are put: the rule for entries of archives, an agent's directory and files a template writes.
 * templates-and-provisioning.md §1.
 */
import { Either } from "effect"

/** Characters; the longest path Linux and macOS both take is 1024 bytes. */
const maximumLength = 1000
const maximumDepth = 64
/** Bytes; what file systems take for one name. */
const maximumNameBytes = 255

const encoder = new TextEncoder()

/**
 * The path with `.` and `..` resolved, `/`-separated and relative; empty when it names the root itself. A path that is absolute, leads
 * out of the root, or means different things on different systems answers the reason it is refused.
 */
export const localPath = (path: string): Either.Either<string, string> => {
  if (path === "") return Either.left("is empty")
  if (path.length > maximumLength) return Either.left(`is longer than ${maximumLength} characters`)
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(path)) return Either.left("holds a control character")
  if (path.includes("\\")) return Either.left("holds a backslash")
  if (path.startsWith("/") || /^[a-zA-Z]:/.test(path)) return Either.left("is absolute")
  const names: Array<string> = []
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue
    if (name === "..") {
      if (names.pop() === undefined) return Either.left("leads outside")
      continue
    }
    if (encoder.encode(name).length > maximumNameBytes) return Either.left(`has a name longer than ${maximumNameBytes} bytes`)
    names.push(name)
  }
  return names.length > maximumDepth ? Either.left(`is deeper than ${maximumDepth} folders`) : Either.right(names.join("/"))
}
