/**
 * The signs of life of connected agents. Those that are due in the same second are stored by one statement, and a connection that waits takes no fiber: two fibers for
 * each connection take 16 KB, and a statement for each of thousands of agents takes a tenth of a core.
 */
import { Duration, Effect, Exit, type Scope } from "effect"
import { acquired } from "../../platform/background/acquired.js"
import * as Background from "../../platform/background/Background.js"
import { afterwards } from "../../platform/store/Transactor.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
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
  /** Whether the agent has sent anything within so many milliseconds: then it need not be asked, which takes several fibers. */
  readonly hasSpoken: (within: number) => boolean
  /** Called with why the connection has to be closed. */
  readonly retire: (why: Retired) => void
}

interface Checked extends CheckedConnection {
  /** Since when it is asked without an answer, by the monotonic time: one that nothing asks is not silent. */
  askedSince: number | undefined
  isAsked: boolean
  /** Whether a sign of life is being stored. */
  isStoring: boolean
  isOver: boolean
  /** The slot in which it is due. */
  slot: number
}

/** Field by field: V8 keeps a description of its own for what is spread. */
const checkedOf = ({ agentId, connectionId, hasSpoken, ping, retire }: CheckedConnection): Checked => ({
  agentId,
  connectionId,
  hasSpoken,
  ping,
  retire,
  askedSince: undefined,
  isAsked: false,
  isStoring: false,
  isOver: false,
  slot: 0
})

/** Milliseconds whose connections are checked together. */
const longestSlot = 1_000

/** Slots of an interval, if it is short. */
const slotsOfInterval = 10

/** How long storing signs of life may take: asking does not wait for it, and a row may be locked. */
const storedWithin = "5 seconds"

/** Slots over which the signs of life are spread that could not be stored together: what one of them met does not meet all others again. */
const retrySlots = 5

/** Makes checks of connections, each once in every interval. */
export const makeChecks = (
  interval: Duration.Duration
): Effect.Effect<
  { readonly check: (connection: CheckedConnection) => Effect.Effect<void, never, Scope.Scope> },
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

    const ask = (checked: Checked, at: number): Effect.Effect<void> => {
      if (checked.hasSpoken(period)) {
        checked.askedSince = undefined
        return Effect.void
      }
      checked.askedSince ??= at
      // It may have spoken since it was asked, and answer that never
      if (checked.isAsked) return Effect.void
      checked.isAsked = true
      const asking = Effect.matchCauseEffect(checked.ping, {
        onFailure: () => Effect.void,
        onSuccess: () => Effect.sync(() => void (checked.askedSince = undefined))
      })
      const asked = Effect.ensuring(
        asking,
        Effect.sync(() => void (checked.isAsked = false))
      )
      return Effect.asVoid(Effect.forkIn(afterwards(asked), scope))
    }

    /** Stores the signs of life of connections, and retires those of former builds. */
    const store = (batch: ReadonlyArray<Checked>): Effect.Effect<void> => {
      const storing = Effect.gen(function* () {
        const signs = batch.map(({ agentId, connectionId, hasSpoken }) => ({ agentId, connectionId, isHeard: hasSpoken(period) }))
        yield* repository.touch(signs, yield* Timestamp.now)
        const latest = yield* repository.latestAmong(batch.map(({ agentId }) => agentId))
        for (const { agentId, retire } of batch) if (!latest.has(agentId)) retire("outdated")
      })
      return Effect.onExit(Effect.disconnect(storing), (exit) =>
        Effect.map(Monotonic.now, (now) =>
          batch.forEach((checked, index) => {
            checked.isStoring = false
            if (Exit.isSuccess(exit) || checked.isOver) return
            // Not after a whole interval: an agent counts as disconnected after two
            forget(checked)
            plan(checked, now, slotLength * (1 + (index % retrySlots)))
          })
        )
      )
    }

    const startStoring = (batch: ReadonlyArray<Checked>): Effect.Effect<void> => {
      for (const checked of batch) checked.isStoring = true
      return Effect.asVoid(
        Effect.forkIn(afterwards(Background.each("agent_connection_check", [batch], store, { within: storedWithin })), scope)
      )
    }

    const isSilent = ({ askedSince, hasSpoken }: Checked, now: number): boolean =>
      askedSince !== undefined && now - askedSince > inactive - period && !hasSpoken(period)

    const checkDue = Effect.gen(function* () {
      const now = yield* Monotonic.now
      const heard: Array<Checked> = []
      for (const checked of takeDue(now)) {
        if (isSilent(checked, now)) checked.retire("unresponsive")
        else heard.push(checked)
      }
      for (const checked of heard) plan(checked, now, period)
      yield* Effect.forEach(heard, (checked) => ask(checked, now), { discard: true })
      const batch = heard.filter(({ isStoring }) => !isStoring)
      if (batch.length > 0) yield* startStoring(batch)
    })

    /** Waits for the slot that is due next, but for no longer than a slot: a sign of life that could not be stored becomes due earlier. */
    const wait = Effect.suspend(() => {
      if (slots.size > 0) {
        return Effect.flatMap(Monotonic.now, (now) => {
          const due = Math.min(...slots.keys()) * slotLength - now
          return Effect.sleep(Duration.millis(Math.max(0, Math.min(due, slotLength))))
        })
      }
      isAny.unsafeClose()
      return isAny.await
    })

    yield* Background.repeat("agent_connection_check", Effect.zipRight(wait, checkDue))

    const begin = (checked: Checked, now: number) => (): (() => void) => {
      plan(checked, now, period)
      return () => {
        checked.isOver = true
        forget(checked)
      }
    }

    return {
      /** Checks a connection until the scope closes. */
      check: (connection) => Effect.flatMap(Monotonic.now, (now) => acquired(begin(checkedOf(connection), now)))
    }
  })
