/** `sync`: keeps a folder of a workspace as one of this machine is. */
import { type FSWatcher, watch } from "node:fs"
import { createReadStream } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join, posix, resolve, sep } from "node:path"
import { Readable } from "node:stream"
import { AtelierError, type Sandbox } from "@atelier/client"
import { reachSandbox } from "../connect/reachSandbox.js"
import { failureOf, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { counted } from "../terminal/text.js"
import { readEnd } from "./copy.js"

interface SyncInput {
  readonly directory: string
  readonly target: string
  readonly exclude: ReadonlyArray<string>
  readonly once: boolean
  readonly remove: boolean
}

/** Milliseconds of rest after which changes are sent. */
const rest = 200

/** Names that are left out everywhere, as whole parts of a path. */
const isExcluded = (name: string, excluded: ReadonlyArray<string>): boolean =>
  name.split("/").some((_, index, parts) => excluded.includes(parts[index] ?? "") || excluded.includes(parts.slice(0, index + 1).join("/")))

const filesBelow = async (root: string, name: string, excluded: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const entry of await readdir(join(root, name), { withFileTypes: true })) {
    const path = name === "" ? entry.name : `${name}/${entry.name}`
    if (isExcluded(path, excluded)) continue
    if (entry.isDirectory()) found.push(...(await filesBelow(root, path, excluded)))
    else if (entry.isFile()) found.push(path)
  }
  return found
}

/** Sends one file, or what it has become: a folder with its files, or nothing. Answers the number of changes. */
const send = async (
  sandbox: Sandbox,
  root: string,
  target: string,
  name: string,
  { exclude, remove }: SyncInput,
  signal: AbortSignal
): Promise<number> => {
  const place = posix.join(target, name)
  const found = await lstat(join(root, name)).catch(() => undefined)
  if (found === undefined) {
    if (!remove) return 0
    await sandbox.files.remove(place, { recursive: true, signal }).catch((error: unknown) => {
      if (!(error instanceof AtelierError) || error.status !== 404) throw error
    })
    return 1
  }
  if (found.isDirectory()) {
    let count = 0
    for (const each of await filesBelow(root, name, exclude))
      count += await send(sandbox, root, target, each, { exclude, remove } as SyncInput, signal)
    return count
  }
  if (!found.isFile()) return 0
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0")
  await sandbox.files.write(place, Readable.toWeb(createReadStream(join(root, name))) as ReadableStream<Uint8Array>, { mode, signal })
  return 1
}

/** The names of what changes, in groups: a group ends with a moment of rest. */
async function* changes(watcher: FSWatcher, signal: AbortSignal): AsyncGenerator<ReadonlySet<string>> {
  let names = new Set<string>()
  let wake = (): void => {}
  let timer: NodeJS.Timeout | undefined
  watcher.on("change", (_, name) => {
    if (name === null) return
    names.add(String(name).split(sep).join("/"))
    clearTimeout(timer)
    timer = setTimeout(() => wake(), rest)
  })
  signal.addEventListener("abort", () => wake())
  for (;;) {
    if (names.size === 0 || timer === undefined) {
      await new Promise<void>((done) => {
        wake = done
        if (signal.aborted) done()
      })
    }
    signal.throwIfAborted()
    const group = names
    names = new Set()
    yield group
  }
}

export const sync = async (input: SyncInput, session: Session): Promise<void> => {
  const { out, program, signal } = session
  const target = readEnd(input.target)
  if (target.kind !== "remote") throw usage(`"${input.target}": must be WORKSPACE:PATH.`)
  const root = resolve(input.directory)
  if ((await lstat(root).catch(() => undefined))?.isDirectory() !== true) throw usage(`${root}: is not a folder.`)
  const client = await session.liveClient()
  const sandbox = await reachSandbox(client, target.workspace, session)
  // Watched before the first copy, so that a change during it is not missed
  const watcher = input.once ? undefined : watch(root, { recursive: true })
  try {
    const pending = watcher === undefined ? undefined : changes(watcher, signal)
    const first = send(sandbox, root, target.path, "", input, signal)
    const count = await out.waiting("Copying", first)
    out.say(`Copied ${counted("file", count)}.`)
    if (pending === undefined) return
    for await (const names of pending) {
      for (const name of [...names].filter((each) => !isExcluded(each, input.exclude))) {
        try {
          if ((await send(sandbox, root, target.path, name, input, signal)) > 0) out.row({ path: name }, name)
        } catch (error) {
          signal.throwIfAborted()
          out.warn(`${name}: ${failureOf(error, program).message}`)
        }
      }
    }
  } finally {
    watcher?.close()
  }
}
