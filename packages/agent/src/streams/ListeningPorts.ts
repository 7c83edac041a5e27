/** The TCP ports that programs of this machine listen on. agents-and-apps.md §11. */
import { readdir, readFile, readlink } from "node:fs/promises"
import type { OwnPorts } from "./OwnPorts.js"

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

/** A socket that a program listens with. */
export interface Listener {
  /** The number of its file. */
  readonly socket: string
  /** In hexadecimal, the form of the table. */
  readonly address: string
  readonly port: number
}

/** Reads the listening sockets of a table, most of whose lines are those of connections. */
export const listenersIn = (table: string): ReadonlyArray<Listener> =>
  table.split("\n").flatMap((line) => {
    if (!line.includes(` ${listening} `)) return []
    const [, local = "", , state, , , , , , socket = ""] = line.trim().split(/\s+/)
    const [address = "", digits = ""] = local.split(":")
    const port = Number.parseInt(digits, 16)
    return state === listening && port > 0 ? [{ socket, address, port }] : []
  })

/** The system's tables of TCP sockets; empty on systems other than Linux. */
export const readTables = (): Promise<ReadonlyArray<string>> => Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map(textOf))

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "")

const entriesOf = (path: string): Promise<ReadonlyArray<string>> => readdir(path).catch(() => [])

/** The numbers of a program's sockets. Programs of other users are not readable. */
export const socketsOf = async (pid: string): Promise<ReadonlyArray<string>> => {
  const sockets: Array<string> = []
  for (const file of await entriesOf(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => "")
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
    if (inode !== undefined) sockets.push(inode)
  }
  return sockets
}

const namesOf = async (inodes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>()
  for (const pid of await entriesOf("/proc")) {
    if (!/^\d+$/.test(pid)) continue
    const sockets = await socketsOf(pid)
    const name = sockets.length === 0 ? "" : (await textOf(`/proc/${pid}/comm`)).trim()
    for (const inode of sockets) if (inodes.has(inode)) names.set(inode, name)
    if (names.size === inodes.size) break
  }
  return names
}

const look = async (own: OwnPorts): Promise<ReadonlyArray<ListeningPort>> => {
  const found = new Map((await readTables()).flatMap(listenersIn).map(({ port, socket }) => [socket, port]))
  const ofWorkspace = await own.among([...found.keys()])
  const sockets = new Map([...found].filter(([socket]) => ofWorkspace.has(socket)))
  const names = await namesOf(new Set(sockets.keys()))
  const byPort = new Map<number, ListeningPort>()
  for (const [inode, port] of sockets) {
    const process_name = names.get(inode) ?? byPort.get(port)?.process_name ?? ""
    byPort.set(port, { process_name, network: "tcp", port })
  }
  return [...byPort.values()].toSorted((one, other) => one.port - other.port).slice(0, maximumPorts)
}

/** Reads the ports of the workspace's programs, at most once a second. Empty on systems other than Linux. */
export const makeListeningPorts = (own: OwnPorts, now: () => number = Date.now): (() => Promise<ReadonlyArray<ListeningPort>>) => {
  let kept: { readonly at: number; readonly ports: Promise<ReadonlyArray<ListeningPort>> } | undefined
  return () => {
    if (kept === undefined || now() - kept.at >= keptFor) kept = { at: now(), ports: look(own) }
    return kept.ports
  }
}
