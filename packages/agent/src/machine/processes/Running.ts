/** The processes that callers of the API have running, and the end of all. */
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { limitOf, Refused } from "../Route.js"
import { endGroup, type Mark } from "./Group.js"

/** Processes that may run at a time where the server names no limit. */
const usualProcesses = 256

/** The place of one process among those that may run. */
export interface Place {
  /** Notes the group of the process, which has started. */
  readonly started: (pid: number) => void
  /** The process has ended, or was not started. */
  readonly leave: () => void
}

export interface Running {
  /** Takes a place for a process with a mark. Fails with the server's limit if there is none. */
  readonly enter: (request: IncomingMessage, mark: Mark) => Effect.Effect<Place, Refused>
  /** Ends all groups. */
  readonly end: Effect.Effect<void>
}

interface Group {
  readonly mark: Mark
  pid: number | undefined
}

export const make = (): Running => {
  const groups = new Set<Group>()
  return {
    enter: (request, mark) =>
      Effect.suspend(() => {
        const most = limitOf(request, "x-limit-processes", usualProcesses)
        if (groups.size >= most) {
          return new Refused({ status: 429, message: `At most ${most} processes may run at a time. End one, or wait for the end of one.` })
        }
        const group: Group = { mark, pid: undefined }
        groups.add(group)
        return Effect.succeed({
          started: (pid) => {
            group.pid = pid
          },
          leave: () => void groups.delete(group)
        })
      }),
    end: Effect.suspend(() =>
      Effect.forEach(groups, ({ mark, pid }) => (pid === undefined ? Effect.void : endGroup(pid, mark)), {
        concurrency: "unbounded",
        discard: true
      })
    )
  }
}
