/** Finds files by name and by content. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { openFile } from "./Download.js"
import { FileError, refusal } from "./FileError.js"
import { glob } from "./Glob.js"
import { walk } from "./Walk.js"

/** Bytes of a text that is searched for. */
const maximumContent = 1024

/** Bytes of a file that are searched. */
export const maximumFile = 16 * 1024 * 1024

/** Bytes of a file that are in memory. */
const windowBytes = 1024 * 1024

/** Bytes of a line that a match shows, and how many of them may come before the match. */
const shownLine = 500
const shownBefore = 200

/** Bytes at the beginning of a file among which a NUL tells that it is no text. */
const sampledBytes = 8192

const newline = 0x0a

/** Names of one directory that are in memory at a time. */
const batch = 50_000

export interface Match {
  /** Absolute. */
  readonly path: string
  /** Counted from 1. */
  readonly line?: number
  readonly text?: string
}

export interface Findings {
  readonly matches: ReadonlyArray<Match>
  /** Whether there may be more, because a bound was reached. */
  readonly truncated: boolean
}

export interface Search {
  readonly directory: string
  readonly name: string | undefined
  readonly content: string | undefined
  readonly limit: number
  /** Milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal
}

/** The part of a line that is shown of a match. */
const shownOf = (line: Buffer, at: number): string => {
  const start = Math.max(0, at - shownBefore)
  const end = Math.min(line.length, start + shownLine)
  return line.subarray(start, end).toString().replace(/\r$/, "")
}

const linesIn = (bytes: Buffer, from: number, to: number): number => {
  let lines = 0
  for (let at = bytes.indexOf(newline, from); at !== -1 && at < to; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}

/** The lines of a window that have a text. `first` is the number of its first line. */
function* matchesIn(window: Buffer, text: Buffer, first: number): Generator<{ readonly line: number; readonly text: string }> {
  let line = first
  let counted = 0
  for (let at = window.indexOf(text); at !== -1;) {
    const begin = at === 0 ? 0 : window.lastIndexOf(newline, at - 1) + 1
    line += linesIn(window, counted, begin)
    counted = begin
    const found = window.indexOf(newline, at)
    const end = found === -1 ? window.length : found
    yield { line, text: shownOf(window.subarray(begin, end), at - begin) }
    at = found === -1 ? -1 : window.indexOf(text, end)
  }
}

/** What a search carries from one file to the next. */
interface Reader {
  readonly text: Buffer
  readonly window: Buffer
  /** Whether the end of a file was not searched. */
  isCut: boolean
}

/** Searches one file, a window of whole lines at a time; a longer line in pieces. Files that hold no text have no matches. */
async function* matchesOf(path: Buffer, reader: Reader): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  const { text, window } = reader
  const handle = await openFile(path)
  try {
    // Files that a kernel makes while they are read have no size
    if ((await handle.stat()).size === 0) return
    let line = 1
    /** Bytes of the line that has begun before. */
    let kept = 0
    for (let position = 0; ;) {
      const { bytesRead } = await handle.read(window, kept, window.length - kept, position)
      if (position === 0 && window.subarray(0, Math.min(bytesRead, sampledBytes)).includes(0)) return
      position += bytesRead
      const filled = kept + bytesRead
      const isLast = bytesRead === 0 || position >= maximumFile
      const lastLine = window.lastIndexOf(newline, filled - 1) + 1
      const whole = lastLine === 0 && filled === window.length ? filled : lastLine
      const end = isLast ? filled : whole
      yield* matchesIn(window.subarray(0, end), text, line)
      reader.isCut ||= position >= maximumFile
      if (isLast) return
      line += linesIn(window, 0, end)
      // The end of a line that fills the window may hold the beginning of the text
      kept = lastLine === 0 && end > 0 ? text.length - 1 : filled - end
      window.copyWithin(0, filled - kept, filled)
    }
  } finally {
    await handle.close()
  }
}

/** Adds the matches. Returns whether all of them were added. */
const search = async ({ content, directory, limit, name, signal }: Search, matches: Array<Match>): Promise<boolean> => {
  const isNamed = name === undefined ? () => true : glob(name)
  const reader = content === undefined ? undefined : { text: Buffer.from(content), window: Buffer.allocUnsafe(windowBytes), isCut: false }
  const add = (match: Match): boolean => {
    if (matches.length === limit) return false
    matches.push(match)
    return true
  }
  const addContent = async (file: Buffer, path: string, its: Reader): Promise<boolean> => {
    for await (const match of matchesOf(file, its)) {
      signal.throwIfAborted()
      if (!add({ path, ...match })) return false
    }
    return true
  }
  const unlessUnreadable = (error: unknown): boolean => {
    if (signal.aborted) throw error
    return true
  }
  for await (const found of walk(directory, { depth: Number.POSITIVE_INFINITY, batch, unreadable: "skip", signal })) {
    signal.throwIfAborted()
    const relative = found.relative.toString()
    if (!isNamed(relative)) continue
    const path = join(directory, relative)
    if (reader === undefined) {
      if (!add({ path })) return false
    } else if (found.kind === "file" && !(await addContent(found.path, path, reader).catch(unlessUnreadable))) return false
  }
  return reader?.isCut !== true
}

/** Finds the entries below a directory, in the order of the paths' bytes, until a bound is reached. Symbolic links are not followed. */
export const find = async (asked: Search): Promise<Findings> => {
  const { content, directory } = asked
  if (content !== undefined && (content === "" || Buffer.byteLength(content) > maximumContent || content.includes("\n"))) {
    throw new FileError(400, `The parameter "content" must be one line of 1 to ${maximumContent} bytes.`)
  }
  if (!(await stat(directory)).isDirectory()) throw refusal(409, directory, "is not a directory", "ENOTDIR")
  const matches: Array<Match> = []
  // `AbortSignal.any` lets garbage collection take a signal of `AbortSignal.timeout`, whose time then never ends
  const controller = new AbortController()
  const end = (): void => controller.abort(asked.signal.reason)
  const timer = setTimeout(() => controller.abort(), asked.timeout)
  if (asked.signal.aborted) end()
  asked.signal.addEventListener("abort", end)
  try {
    return { matches, truncated: !(await search({ ...asked, signal: controller.signal }, matches)) }
  } catch (error) {
    if (asked.signal.aborted || !controller.signal.aborted) throw error
    return { matches, truncated: true }
  } finally {
    clearTimeout(timer)
    asked.signal.removeEventListener("abort", end)
  }
}
