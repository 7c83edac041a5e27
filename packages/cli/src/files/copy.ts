/** `cp`: files and directories between this machine and a workspace. */
import { AtelierError, type Sandbox } from "@atelier/client"
import { stat } from "node:fs/promises"
import { basename, posix } from "node:path"
import { Readable } from "node:stream"
import { reachSandbox } from "../connect/reachSandbox.js"
import { Failure, exitCodes, failureOf, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { bytesText, counted } from "../terminal/text.js"
import { packed } from "./tar.js"

export type End =
  | { readonly kind: "stream" }
  | { readonly kind: "local"; readonly path: string }
  | { readonly kind: "remote"; readonly workspace: string; readonly path: string }

/** Reads `-`, a path, or `WORKSPACE:PATH`. A path with a slash before its first colon is a local one. */
export const readEnd = (text: string): End => {
  if (text === "-") return { kind: "stream" }
  const [, workspace, path = ""] = /^((?:[^/:]+\/)?[^/:\\]{2,}):(.*)$/s.exec(text) ?? []
  return workspace === undefined || /^[./]/.test(text)
    ? { kind: "local", path: text }
    : { kind: "remote", workspace, path: path === "" ? "." : path }
}

export const isMissing = (error: unknown): boolean =>
  (error instanceof AtelierError && error.status === 404) || (error instanceof Error && "code" in error && error.code === "ENOENT")

export const unless = async <A>(promise: Promise<A>): Promise<A | undefined> => {
  try {
    return await promise
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export const noSuchFile = (path: string): Failure => new Failure({ message: `${path}: does not exist.`, code: exitCodes.notFound })

export const webStream = (stream: Readable): ReadableStream<Uint8Array> => Readable.toWeb(stream) as ReadableStream<Uint8Array>

/** How far the copy of a file is. */
interface Progress {
  readonly bytes: () => number
  readonly size: number
}

/** Is told how far a copy is, where that is known. */
export type Report = (progress: Progress) => void

/** Copies from this machine into a workspace. */
const upload = async (source: End, sandbox: Sandbox, path: string, session: Session, report: Report): Promise<string> => {
  const { signal, stdin } = session
  if (source.kind === "stream") {
    const { size } = await sandbox.files.write(path, webStream(stdin), { signal })
    return bytesText(size)
  }
  if (source.kind === "remote") throw usage("A copy between two workspaces goes through this machine: make it in two steps.")
  const found = await unless(stat(source.path))
  if (found === undefined) throw noSuchFile(source.path)
  const target = await unless(sandbox.files.stat(path, { signal }))
  const place = target?.type === "directory" || path.endsWith("/") ? posix.join(path, basename(source.path)) : path
  if (!found.isDirectory()) {
    const { uploadFile } = await import("./upload.js")
    const watch = (bytes: () => number): void => report({ bytes, size: found.size })
    return bytesText(await uploadFile(sandbox, { path: source.path, found, place, watch }, session))
  }
  await sandbox.files.mkdir(place, { signal }).catch((error: unknown) => {
    if (!(error instanceof AtelierError) || error.status !== 409) throw error
  })
  const { bytes, entries } = await sandbox.files.upload(place, webStream(await packed(source.path)), { signal })
  return `${counted("entry", entries, "entries")}, ${bytesText(bytes)}`
}

/** Tells the user of a lost connection how the copy goes on. */
const goingOn = async <A>(work: Promise<A>, { program, signal }: Session): Promise<A> => {
  try {
    return await work
  } catch (cause) {
    const { code, details, message } = failureOf(cause, program)
    if (code !== exitCodes.unreachable || signal.aborted) throw cause
    throw new Failure({ message, details, hint: "run the command again: the copy of a file goes on where it was.", code, cause })
  }
}

const copying = (progress: Progress | undefined): string =>
  progress === undefined ? "Copying" : `Copying, ${bytesText(progress.bytes())} of ${bytesText(progress.size)}`

export const copy = async ({ paths }: { readonly paths: ReadonlyArray<string> }, session: Session): Promise<void> => {
  const ends = paths.map(readEnd)
  const target = ends.at(-1)
  const sources = ends.slice(0, -1)
  const remote = ends.flatMap((end) => (end.kind === "remote" ? [end.workspace] : []))[0]
  if (target === undefined || sources.length === 0) throw usage("cp: needs a source and a target.")
  if (remote === undefined) throw usage("cp: one side must be in a workspace, as WORKSPACE:PATH.")
  const client = await session.liveClient()
  const sandbox = await reachSandbox(client, remote, session)
  for (const source of sources) {
    if (source.kind === "remote" && source.workspace !== remote) throw usage("cp: all sources must be in one workspace.")
    let progress: Progress | undefined
    const report: Report = (next) => {
      progress = next
    }
    const work =
      source.kind === "remote" ? (await import("./download.js")).download(sandbox, source.path, target, session, report) : undefined
    const done = work ?? (target.kind === "remote" ? upload(source, sandbox, target.path, session, report) : undefined)
    if (done === undefined) throw usage("cp: one side must be in a workspace, as WORKSPACE:PATH.")
    const copied = await session.out.waiting(() => copying(progress), goingOn(done, session))
    session.out.say(`Copied ${copied}.`)
  }
}
