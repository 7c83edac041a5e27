/** The processes of a session, and their end. */
import { readdirSync, readFileSync } from "node:fs"

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

/** The processes of a session that did not leave it and do not stay on. The mark tells them from those of another session with the same id. */
const membersOf = (leader: number, [name, value]: readonly [string, string]): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && sessionOf(pid) === leader)
    .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`${name}=${value}`) && !staysOn(pid))
    .map(Number)

/**
 * Ends what a session runs whose client has gone: its processes get SIGHUP, and SIGKILL after 5 seconds unless they ignore SIGHUP. Those that have made a
 * session of their own go on, as under OpenSSH's server.
 */
export const hangUp = (leader: number, mark: readonly [string, string]): void => {
  signal(-leader, "SIGHUP")
  setTimeout(() => {
    if (process.platform !== "linux") signal(-leader, "SIGKILL")
    else for (const pid of membersOf(leader, mark)) signal(pid, "SIGKILL")
  }, grace).unref()
}
