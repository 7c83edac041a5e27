/** Watches files and directories, and tells what changes in them. */
import { type FSWatcher, watch as watchDirectory } from "node:fs"
import { lstat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { isDraft } from "./Drafts.js"
import { about } from "./FileError.js"
import { entries } from "./Walk.js"

/** Directories that one watcher looks at. */
const maximumDirectories = 10_000

/** Names whose existence one watcher remembers, to tell a new file from a changed one. */
const maximumNames = 200_000

/** Paths that wait to be told. */
const maximumPending = 10_000

/** Milliseconds for which changes of one path are gathered. */
const gatheredFor = 50

export interface Event {
  /** Absolute. */
  readonly path: string
  readonly kind: "created" | "changed" | "deleted"
}

export interface Reader {
  readonly events: (events: ReadonlyArray<Event>) => void
  /** Some changes are not told: the reader has to look for itself. */
  readonly overflow: () => void
}

interface Directory {
  readonly watcher: FSWatcher
  readonly names: Set<string>
}

class Watching {
  private readonly directories = new Map<string, Directory>()
  private readonly pending = new Set<string>()
  private timer: NodeJS.Timeout | undefined
  private names = 0
  private isClosed = false
  private settling: Promise<void> = Promise.resolve()

  constructor(
    private readonly isRecursive: boolean,
    /** The only name that is told of in a directory; undefined is all. */
    private readonly only: string | undefined,
    private readonly reader: Reader
  ) {}

  /** Begins with a directory, and those below it. What is found in directories that appear later counts as created. */
  async add(directory: string, isNew: boolean): Promise<void> {
    if (this.isClosed || this.directories.has(directory)) return
    if (this.directories.size >= maximumDirectories) return this.reader.overflow()
    // Before its entries are read, so that none is missed
    const watcher = watchDirectory(directory, { persistent: false })
    const its: Directory = { watcher, names: new Set() }
    this.directories.set(directory, its)
    watcher.on("error", () => this.forget(directory))
    watcher.on("change", (_, name) => {
      if (typeof name === "string") this.note(directory, name)
    })
    for await (const child of entries(Buffer.from(directory))) {
      if (this.isClosed) return
      const name = child.name.toString()
      const path = join(directory, name)
      if (isNew) this.note(directory, name)
      else this.remember(its, name)
      if (this.isRecursive && child.kind === "directory") await this.addLater(path, isNew)
    }
  }

  /** A directory that is gone, or may not be read, is not watched. */
  private async addLater(directory: string, isNew: boolean): Promise<void> {
    await this.add(directory, isNew).catch(() => undefined)
  }

  private remember(directory: Directory, name: string): void {
    if (this.names >= maximumNames || directory.names.has(name)) return
    directory.names.add(name)
    this.names++
  }

  private forget(directory: string): void {
    for (const [path, { names, watcher }] of this.directories) {
      if (path !== directory && !path.startsWith(`${directory}/`)) continue
      this.directories.delete(path)
      this.names -= names.size
      watcher.close()
    }
  }

  private note(directory: string, name: string): void {
    const path = join(directory, name)
    if (this.isClosed || isDraft(path) || (this.only !== undefined && name !== this.only)) return
    if (this.pending.size < maximumPending) this.pending.add(path)
    else if (!this.pending.has(path)) this.reader.overflow()
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      const paths = [...this.pending]
      this.pending.clear()
      // One batch after the other, as the later one stands on what the earlier one found
      this.settling = this.settling.then(() => this.tell(paths)).catch(() => undefined)
    }, gatheredFor)
  }

  private async tell(paths: ReadonlyArray<string>): Promise<void> {
    const events: Array<Event> = []
    for (const path of paths) {
      if (this.isClosed) return
      const event = await this.eventOf(path)
      if (event !== undefined) events.push(event)
    }
    if (events.length > 0 && !this.isClosed) this.reader.events(events)
  }

  private async eventOf(path: string): Promise<Event | undefined> {
    const directory = this.directories.get(dirname(path))
    const name = basename(path)
    const stats = await lstat(path).catch(() => undefined)
    const wasKnown = directory?.names.has(name) === true
    if (stats === undefined) {
      if (directory?.names.delete(name) === true) this.names--
      this.forget(path)
      // It came and went
      return wasKnown ? { path, kind: "deleted" } : undefined
    }
    if (directory !== undefined) this.remember(directory, name)
    if (this.isRecursive && stats.isDirectory()) await this.addLater(path, true)
    return { path, kind: wasKnown ? "changed" : "created" }
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    for (const { watcher } of this.directories.values()) watcher.close()
    this.directories.clear()
  }
}

/**
 * Watches a directory, or one file of it, until the signal aborts. Returns when all that is there is watched. Fails where the path cannot be watched, and
 * when the signal aborts before.
 */
export const watch = async (path: string, isRecursive: boolean, reader: Reader, signal: AbortSignal): Promise<void> => {
  try {
    const isDirectory = (await lstat(path)).isDirectory()
    signal.throwIfAborted()
    const watching = new Watching(isRecursive && isDirectory, isDirectory ? undefined : basename(path), reader)
    signal.addEventListener("abort", () => watching.close(), { once: true })
    await watching.add(isDirectory ? path : dirname(path), false)
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? error : about(path, error)
  }
}
