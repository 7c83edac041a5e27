/**
 * Tells the ports of a workspace's programs from those of other programs, on a machine that several workspaces share: there, the page of
 * another workspace may be on a port that an app names. agents-and-apps.md §11.
 */
import { listenersIn, readTables, socketsOf } from "./ListeningPorts.js"
import * as ProcessTree from "../scripts/ProcessTree.js"

/** The addresses through which a connection to `localhost` may end, as Linux's tables have them. */
const reachable: ReadonlySet<string> = new Set([
  "00000000",
  "0100007F",
  "0".repeat(32),
  `${"0".repeat(24)}01000000`,
  `${"0".repeat(16)}FFFF000000000000`,
  `${"0".repeat(16)}FFFF00000100007F`
])

export interface OwnPorts {
  /** Whether a program that is not the workspace's listens on a port of the loopback interface. */
  readonly isForeign: (port: number) => Promise<boolean>
  /** Of these listening sockets, those of the workspace's programs. */
  readonly among: (sockets: ReadonlyArray<string>) => Promise<ReadonlySet<string>>
}

/** Where the machine is the workspace's own, every port is. */
export const all: OwnPorts = {
  isForeign: async () => false,
  among: async (sockets) => new Set(sockets)
}

/** A look that begins with or after its call. Callers that wait at once share one: a page of an app opens several connections, and the tables name every connection of the machine. */
const shared = <A>(look: () => Promise<A>): (() => Promise<A>) => {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<A> | undefined
  const begin = (): Promise<A> => {
    next = undefined
    return look()
  }
  return () => {
    next ??= running.then(begin, begin)
    running = next
    return next
  }
}

/**
 * The ports of these processes. Systems other than Linux do not tell which process listens on a port, so no port is foreign there. Sockets that were
 * found are known from then on: Linux counts their numbers up, and does not give one to another program.
 */
export const ofProcesses = (pids: () => Promise<ReadonlyArray<number>>, tables = readTables): OwnPorts => {
  if (process.platform !== "linux") return all
  let own: ReadonlySet<string> = new Set()
  const looked = shared(async (): Promise<void> => {
    const found = await Promise.all((await pids()).map((pid) => socketsOf(String(pid))))
    own = new Set(found.flat())
  })
  const listeners = shared(async () => (await tables()).flatMap(listenersIn))

  const among = async (sockets: ReadonlyArray<string>): Promise<ReadonlySet<string>> => {
    if (!sockets.every((socket) => own.has(socket))) await looked()
    return new Set(sockets.filter((socket) => own.has(socket)))
  }
  return {
    among,
    isForeign: async (port) => {
      const sockets = (await listeners()).filter((one) => one.port === port && reachable.has(one.address)).map(({ socket }) => socket)
      return (await among(sockets)).size < sockets.length
    }
  }
}

/** The ports of the workspace whose processes have this entry (`NAME=value`) in their environment. */
export const ofWorkspace = (entry: string): OwnPorts => ofProcesses(() => ProcessTree.marked((found) => found === entry))

/**
 * The ports of an agent's workspace. A local engine sets a variable in the environment of its agents, and so of all that they start, because
 * workspaces share the machine. Elsewhere every port is the workspace's.
 */
export const ofAgent = (environmentName: string, environment: Readonly<Record<string, string>>): OwnPorts => {
  const name = `${environmentName}_LOCAL_WORKSPACE`
  const workspace = environment[name]
  if (workspace === undefined) return all
  const entry = `${name}=${workspace}`
  return ofProcesses(async () => [process.pid, ...(await ProcessTree.marked((found) => found === entry))])
}

/** The sentence for a port that another program has. */
export const foreign = (port: number): string => `Port ${port} is used by another program.`
