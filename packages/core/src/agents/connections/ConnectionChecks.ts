/**
 * The signs of life of connected agents. Those that are due in the same second are stored by one statement, and a connection that waits takes no fiber: two fibers for
 * each connection take 16 KB, and a statement for each of thousands of agents takes a tenth of a core.
 */
import { Clock, Deferred, Duration, Effect, Exit, type Scope } from "effect"
import * as Background from "../../platform/background/Background.js"
import { afterwards } from "../../platform/store/Transactor.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { AgentRepository } from "../AgentRepository.js"
import { inactivityTimeout } from "../AgentStatus.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** Why a connection has to be closed: its agent does not answer, or was replaced by one of a newer build. */
export type Retired = "unresponsive" | "outdated"

/** A connection, and how its agent is asked for a sign of life. */
export interface CheckedConnection {
  readonly agentId: WorkspaceAgentId
  readonly connectionId: Uuid
  readonly ping: Effect.Effect<unknown, unknown>
}

interface Checked extends CheckedConnection {
  readonly retired: Deferred.Deferred<Retired>
  /** By the monotonic time. */
  answeredAt: number
  isAsked: boolean
  /** The slot in which it is due. */
  slot: number
}

/** Milliseconds whose connections are checked together. */
const longestSlot = 1_000

/** Slots of an interval, if it is short. */
const slotsOfInterval = 10

/** Milliseconds that go on evenly when the machine's clock is set: by that, a clock that is set back would let no check be due. */
const monotonic = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/** Makes checks of connections, each once in every interval. */
export const makeChecks = (
  interval: Duration.Duration
): Effect.Effect<
  { readonly retirementOf: (connection: CheckedConnection) => Effect.Effect<Retired> },
  never,
  AgentRepository | Scope.Scope
> =>
  Effect.gen(function* () {
    const repository = yield* AgentRepository
    const scope = yield* Effect.scope
    const inactive = Duration.toMillis(inactivityTimeout(interval))
    const period = Duration.toMillis(interval)
    const slotLength = Math.min(longestSlot, period / slotsOfInterval)
    const slots = new Map<number, Set<Checked>>()
    const isAny = yield* Effect.makeLatch(false)

    /** Has a connection checked after a time, or up to a slot before. */
    const plan = (checked: Checked, from: number, after: number): void => {
      checked.slot = Math.floor((from + after) / slotLength)
      slots.set(checked.slot, (slots.get(checked.slot) ?? new Set()).add(checked))
      isAny.unsafeOpen()
    }

    const forget = (checked: Checked): void => {
      const slot = slots.get(checked.slot)
      slot?.delete(checked)
      if (slot?.size === 0) slots.delete(checked.slot)
    }

    /** Takes the connections that are due. */
    const takeDue = (now: number): Array<Checked> => {
      const due: Array<Checked> = []
      for (const [slot, connections] of slots) {
        if (slot * slotLength > now) continue
        slots.delete(slot)
        due.push(...connections)
      }
      return due
    }

    const ask = (checked: Checked): Effect.Effect<void> => {
      if (checked.isAsked) return Effect.void
      checked.isAsked = true
      const asking = Effect.matchCauseEffect(Effect.zipRight(checked.ping, monotonic), {
        onFailure: () => Effect.void,
        onSuccess: (now) => Effect.sync(() => void (checked.answeredAt = now))
      })
      const asked = Effect.ensuring(
        asking,
        Effect.sync(() => void (checked.isAsked = false))
      )
      return Effect.asVoid(Effect.forkIn(afterwards(asked), scope))
    }

    const check = Effect.gen(function* () {
      const now = yield* monotonic
      const due = takeDue(now)
      if (due.length === 0) return
      const isHeard = ({ answeredAt }: Checked): boolean => now - answeredAt <= inactive
      const heard = due.filter(isHeard)
      for (const { retired } of due.filter((checked) => !isHeard(checked))) Deferred.unsafeDone(retired, Exit.succeed("unresponsive"))
      if (heard.length === 0) return
      for (const checked of heard) plan(checked, now, period)
      // Before the store: agents answer while it is away too
      yield* Effect.forEach(heard, ask, { discard: true })
      const storing = Effect.zipRight(
        Effect.flatMap(Timestamp.now, (at) => repository.touch(heard, at)),
        repository.latestAmong(heard.map(({ agentId }) => agentId))
      )
      const latest = yield* Effect.onError(storing, () =>
        Effect.sync(() => {
          // Not after a whole interval: an agent counts as disconnected after two
          for (const checked of heard) {
            forget(checked)
            plan(checked, now, longestSlot)
          }
        })
      )
      for (const { agentId, retired } of heard) if (!latest.has(agentId)) Deferred.unsafeDone(retired, Exit.succeed("outdated"))
    })

    /** Waits for the slot that is due next. */
    const wait = Effect.suspend(() => {
      if (slots.size > 0) {
        return Effect.flatMap(monotonic, (now) => Effect.sleep(Duration.millis(Math.max(0, Math.min(...slots.keys()) * slotLength - now))))
      }
      isAny.unsafeClose()
      return isAny.await
    })

    yield* Background.repeat("agent_connection_check", Effect.zipRight(wait, check))

    return {
      /** Checks a connection until it has to be closed, and answers why. */
      retirementOf: (connection) =>
        Effect.gen(function* () {
          const now = yield* monotonic
          const checked: Checked = { ...connection, retired: yield* Deferred.make<Retired>(), answeredAt: now, isAsked: false, slot: 0 }
          return yield* Effect.acquireUseRelease(
            Effect.sync(() => plan(checked, now, period)),
            () => Deferred.await(checked.retired),
            () => Effect.sync(() => forget(checked))
          )
        })
    }
  })
