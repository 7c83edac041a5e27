/** The processes of a session, and their end. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Milliseconds between the hang-up of a session and the end of what has not gone by itself. */
const grace = 5_000

/** Whether the signal reached a process or, for a negative id, a group. */
export const signal = (id: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(id, name)
  } catch {
    return false
  }
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

/** A process's input, output and errors, as the system names them. Those of its children are the same, unless they were led elsewhere. */
export const streamsOf = (pid: number | string): ReadonlyArray<string> =>
  [0, 1, 2].map((number) => linkOf(`/proc/${pid}/fd/${number}`)).filter((link) => link !== "")

/** The session of a process: `pid (name) state ppid pgrp session …`, where the name may contain anything. */
const sessionOf = (pid: string): number => {
  const stat = read(`/proc/${pid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4)[3])
}

/** Whether a process ignores the hang-up: it was started to go on without its client, as by `nohup`. */
const staysOn = (pid: string): boolean => {
  const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(read(`/proc/${pid}/status`))?.[1]
  return mask !== undefined && (Number.parseInt(mask.slice(-2), 16) & 1) === 1
}

type Mark = readonly [name: string, value: string]

/** The processes of a session that did not leave it and do not stay on. The mark tells them from those of another session with the same id. */
const membersOf = (leader: number, [name, value]: Mark): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && sessionOf(pid) === leader)
    .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`${name}=${value}`) && !staysOn(pid))
    .map(Number)

/**
 * Ends what a session runs whose client has gone: its processes get SIGHUP, and SIGKILL after 5 seconds unless they ignore SIGHUP. Those that have made a
 * session of their own go on, as under OpenSSH's server.
 */
export const hangUp = (leader: number, mark: Mark): void => {
  signal(-leader, "SIGHUP")
  setTimeout(() => {
    if (process.platform !== "linux") signal(-leader, "SIGKILL")
    else for (const pid of membersOf(leader, mark)) signal(pid, "SIGKILL")
  }, grace).unref()
}

/**
 * Ends what a session without a terminal runs whose client has gone: as `hangUp`, but for processes that have no stream of the session any more. Under
 * OpenSSH's server these go on, and editors start their servers so. `nohup` alone would not save such a server: Node takes no notice of it.
 */
export const breakOff = (leader: number, streams: ReadonlyArray<string>, mark: Mark): void => {
  const end = (name: NodeJS.Signals): void => {
    if (process.platform !== "linux") return void signal(leader, name)
    for (const pid of membersOf(leader, mark)) if (streamsOf(pid).some((stream) => streams.includes(stream))) signal(pid, name)
  }
  end("SIGHUP")
  setTimeout(() => end("SIGKILL"), grace).unref()
}
