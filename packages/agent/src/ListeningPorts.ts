/** The TCP ports that programs of this machine listen on. agents-and-apps.md §11. */
import { readdir, readFile, readlink } from "node:fs/promises"

export interface ListeningPort {
  readonly process_name: string
  readonly network: "tcp"
  readonly port: number
}

/** Ports that are told of. */
const maximumPorts = 1024

/** Milliseconds for which an answer is kept: finding the programs' names reads much. */
const keptFor = 1000

/** The state of a listening socket in Linux's tables. */
const listening = "0A"

/** Reads a table of sockets: the port of each listening one, by the number of its file. */
export const parseTable = (table: string): ReadonlyMap<string, number> =>
  new Map(
    table.split("\n").flatMap((line) => {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/)
      const port = Number.parseInt(local.split(":")[1] ?? "", 16)
      return state === listening && port > 0 ? [[inode, port] as const] : []
    })
  )

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "")

const entriesOf = (path: string): Promise<ReadonlyArray<string>> => readdir(path).catch(() => [])

/** The name of a program, and the numbers of its sockets. Programs of other users are not readable. */
const programOf = async (pid: string): Promise<{ readonly name: string; readonly sockets: ReadonlyArray<string> }> => {
  const sockets: Array<string> = []
  for (const file of await entriesOf(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => "")
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
    if (inode !== undefined) sockets.push(inode)
  }
  return { name: sockets.length === 0 ? "" : (await textOf(`/proc/${pid}/comm`)).trim(), sockets }
}

const namesOf = async (inodes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>()
  for (const pid of await entriesOf("/proc")) {
    if (!/^\d+$/.test(pid)) continue
    const { name, sockets } = await programOf(pid)
    for (const inode of sockets) if (inodes.has(inode)) names.set(inode, name)
    if (names.size === inodes.size) break
  }
  return names
}

const look = async (): Promise<ReadonlyArray<ListeningPort>> => {
  const tables = await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map(textOf))
  const sockets = new Map(tables.flatMap((table) => [...parseTable(table)]))
  const names = await namesOf(new Set(sockets.keys()))
  const byPort = new Map<number, ListeningPort>()
  for (const [inode, port] of sockets) {
    const process_name = names.get(inode) ?? byPort.get(port)?.process_name ?? ""
    byPort.set(port, { process_name, network: "tcp", port })
  }
  return [...byPort.values()].toSorted((one, other) => one.port - other.port).slice(0, maximumPorts)
}

/** Reads the ports, at most once a second. Empty on systems other than Linux. */
export const makeListeningPorts = (now: () => number = Date.now): (() => Promise<ReadonlyArray<ListeningPort>>) => {
  let kept: { readonly at: number; readonly ports: Promise<ReadonlyArray<ListeningPort>> } | undefined
  return () => {
    if (kept === undefined || now() - kept.at >= keptFor) kept = { at: now(), ports: look() }
    return kept.ports
  }
}
