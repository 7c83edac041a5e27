/** The processes that callers of the API have running, and the end of all. */
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import type { Marks } from "../../scripts/Marks.js"
import * as ProcessTree from "../../scripts/ProcessTree.js"
import { limitOf, Refused } from "../Route.js"
import { endGroup, entryOf, type Mark, signalGroup } from "./Group.js"

/** Processes that may run at a time where the server names no limit. */
const usualProcesses = 256

/** The place of one process among those that may run. */
export interface Place {
  /** The mark that the process is to have. */
  readonly mark: Mark
  /** Notes the group of the process, which has started. */
  readonly started: (pid: number) => void
  /** The process has ended, or was not started. Others that it has started may go on. */
  readonly leave: () => void
}

export interface Running {
  /** Takes a place for a process. Fails with the server's limit if all places are taken. */
  readonly enter: (request: IncomingMessage) => Effect.Effect<Place, Refused>
  /** Ends all processes that were started before, and all that they have started. */
  readonly end: Effect.Effect<void>
}

interface Group {
  readonly mark: Mark
  pid: number | undefined
}

/** The groups that have living processes. */
const livingOf = (groups: ReadonlyArray<Group>, marks: Marks): Effect.Effect<ReadonlyArray<Group>> => {
  // Other systems do not show environments
  if (process.platform !== "linux") return Effect.succeed(groups.filter(({ pid }) => pid !== undefined && signalGroup(pid, 0)))
  return Effect.map(
    Effect.promise(() => ProcessTree.marksOfLiving(marks.isMark)),
    (living) => groups.filter(({ mark }) => living.has(entryOf(mark)))
  )
}

export const make = (marks: Marks): Running => {
  const groups = new Set<Group>()
  /** Those whose leader has ended. Whether they have other processes is found when their places are wanted. */
  let led = new Set<Group>()
  let own = marks.within()
  const looking = Effect.unsafeMakeSemaphore(1)

  /** Forgets the groups that have no process any more, if their places are wanted. */
  const sweep = (most: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (groups.size + led.size < most || led.size === 0) return Effect.void
      const looked = [...led]
      return Effect.map(livingOf(looked, marks), (living) => {
        const later = [...led].filter((group) => !looked.includes(group))
        led = new Set([...living, ...later])
      })
    }).pipe(looking.withPermits(1))

  const placeOf = (group: Group, origin: Marks): Place => ({
    mark: group.mark,
    started: (pid) => {
      group.pid = pid
      // All others were ended while it was on its way
      if (origin !== own) signalGroup(pid, "SIGKILL")
    },
    leave: () => {
      if (groups.delete(group) && group.pid !== undefined) led.add(group)
    }
  })

  return {
    enter: (request) =>
      Effect.suspend(() => {
        const most = limitOf(request, "x-limit-processes", usualProcesses)
        return Effect.flatMap(sweep(most), () => {
          if (groups.size + led.size >= most) {
            return new Refused({
              status: 429,
              message: `At most ${most} processes may run at a time. End one, or wait for the end of one.`
            })
          }
          const group: Group = { mark: own.next(), pid: undefined }
          groups.add(group)
          return Effect.succeed(placeOf(group, own))
        })
      }),
    end: Effect.suspend(() => {
      const before = own
      own = marks.within()
      const ending = Effect.forEach(groups, ({ mark, pid }) => (pid === undefined ? Effect.void : endGroup(pid, mark)), {
        concurrency: "unbounded",
        discard: true
      })
      return Effect.zipRight(ending, ProcessTree.terminateMarked(before))
    })
  }
}
