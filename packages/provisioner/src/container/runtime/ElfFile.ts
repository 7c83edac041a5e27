/** Programs of Linux, as far as it matters how they are started (System V ABI, chapter 5). */
import { open } from "node:fs/promises"

const interpreterSegment = 3
/** Bytes from the start, in which linkers put the program headers and the interpreter's path. */
const headBytes = 64 * 1024

/** The loader that starts a program, by its path; undefined for a file that is no program or is linked statically. */
export const interpreterOf = async (path: string): Promise<string | undefined> => {
  const file = await open(path, "r")
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const head = buffer.subarray(0, bytesRead)
    if (head.length < 64 || head.toString("latin1", 0, 4) !== "\x7fELF" || head[5] !== 1) return undefined
    const isWide = head[4] === 2
    const word = (offset: number): number => (isWide ? Number(head.readBigUInt64LE(offset)) : head.readUInt32LE(offset))
    const first = isWide ? word(32) : word(28)
    const size = head.readUInt16LE(isWide ? 54 : 42)
    const count = head.readUInt16LE(isWide ? 56 : 44)
    for (let segment = first; segment < first + count * size && segment + size <= head.length; segment += size) {
      if (head.readUInt32LE(segment) !== interpreterSegment) continue
      const start = word(segment + (isWide ? 8 : 4))
      const end = head.indexOf(0, start)
      return end < 0 ? undefined : head.toString("utf8", start, end)
    }
    return undefined
  } finally {
    await file.close()
  }
}
