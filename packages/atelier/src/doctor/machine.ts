/** The runtime and the disks. */
import { reasonOf } from "@atelier/core/platform"
import { constants, existsSync } from "node:fs"
import { access, stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import type { Options } from "../Options.js"
import { type Check, fault, type Finding, ok, warning } from "./Finding.js"

export const runtimeFindings: Check = async () => [
  ok(`Node.js ${process.versions.node} on ${process.platform} ${process.arch}`),
  ...(process.getuid?.() === 0
    ? [warning("the program runs as root", "run it as a user of its own, as deploy/systemd/atelier.service does")]
    : [])
]

const gibibyte = 2 ** 30

/** A path, or the nearest folder above it that exists. */
const existing = (path: string): string => (existsSync(path) || path === dirname(path) ? path : existing(dirname(path)))

const spaceOf = async (path: string): Promise<Finding> => {
  const { bavail, bsize } = await statfs(path)
  const free = (bavail * bsize) / gibibyte
  const text = `${free.toFixed(1)} GiB are free at ${path}`
  const advice = "free space, or name a folder on another disk with --data-directory"
  return free < 0.1 ? fault(text, advice) : free < 1 ? warning(text, advice) : ok(text)
}

const folderFindings = async (path: string): Promise<ReadonlyArray<Finding>> => {
  const place = existing(path)
  const refusal = await access(place, constants.W_OK | constants.X_OK).catch(reasonOf)
  if (typeof refusal === "string") {
    return [
      fault(`${place} cannot be written: ${refusal}`, `give it to the user of the server, or name another folder with --data-directory`)
    ]
  }
  const { mode } = await stat(place)
  const isOpen = place === path && (mode & 0o007) !== 0
  return [
    await spaceOf(place),
    ...(isOpen ? [warning(`other users of this machine can enter ${path}`, `it holds secrets of templates: chmod 700 ${path}`)] : [])
  ]
}

const foldersOf = ({ database, workspacesDirectory }: Options): ReadonlyArray<string> => [
  ...(database.kind === "sqlite" && database.filename !== ":memory:" ? [dirname(database.filename)] : []),
  workspacesDirectory
]

export const diskFindings: Check = async (options) => (await Promise.all(foldersOf(options).map(folderFindings))).flat()
