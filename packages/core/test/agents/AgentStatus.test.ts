import { type AgentStatus, type AgentLifecycle, healthOf, inactivityTimeout, isShuttingDown, statusAt } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import fc from "fast-check"

const start = Date.parse("2026-01-01T00:00:00.000Z")
const at = (seconds: number): Timestamp.Timestamp => Timestamp.fromMillis(start + seconds * 1000)
const inactive = Duration.seconds(30)

interface Seen {
  readonly first?: number
  readonly last?: number
  readonly disconnected?: number
  readonly timeout?: number
}

/** An agent created at second 0. */
const agent = ({ disconnected, first, last, timeout = 120 }: Seen) => ({
  created_at: at(0),
  first_connected_at: first === undefined ? null : at(first),
  last_connected_at: last === undefined ? null : at(last),
  disconnected_at: disconnected === undefined ? null : at(disconnected),
  connection_timeout_seconds: timeout
})

const status = (seen: Seen, now: number): AgentStatus => statusAt(agent(seen), at(now), inactive).status

describe("an agent's status", () => {
  it.each<[string, Seen, number, AgentStatus]>([
    ["is connecting until its first connection is overdue", { timeout: 1 }, 1, "connecting"],
    ["is timeout from then on", { timeout: 1 }, 1.001, "timeout"],
    ["stays connecting for ever without a timeout", { timeout: 0 }, 1e9, "connecting"],
    ["is connected after a sign of life", { first: 5, last: 10 }, 40, "connected"],
    ["is disconnected when there was none for too long", { first: 5, last: 10 }, 40.001, "disconnected"],
    ["is disconnected as soon as the connection ended", { first: 5, last: 10, disconnected: 10 }, 10, "disconnected"],
    ["is connected again after an earlier connection ended", { first: 5, last: 21, disconnected: 20 }, 22, "connected"],
    ["does not time out once it was connected", { first: 5, last: 10, timeout: 1 }, 20, "connected"]
  ])("%s", (_, seen, now, expected) => {
    expect(status(seen, now)).toBe(expected)
  })

  it("says since when a silent agent is disconnected", () => {
    expect(statusAt(agent({ first: 5, last: 10, disconnected: 7 }), at(60), inactive)).toStrictEqual({
      status: "disconnected",
      disconnected_at: at(10)
    })
  })

  it("never becomes connected by time passing", () => {
    const seconds = fc.integer({ min: 0, max: 500 })
    const optional = fc.option(seconds, { nil: undefined })
    fc.assert(
      fc.property(optional, optional, seconds, seconds, seconds, (last, disconnected, timeout, now, later) => {
        const seen = { timeout, ...(last === undefined ? {} : { first: 0, last }), ...(disconnected === undefined ? {} : { disconnected }) }
        const before = status(seen, now)
        const after = status(seen, now + later)
        const successors = {
          connecting: ["connecting", "timeout"],
          timeout: ["timeout"],
          connected: ["connected", "disconnected"],
          disconnected: ["disconnected"]
        }
        expect(successors[before]).toContain(after)
      })
    )
  })

  it("waits for two updates, at least two seconds", () => {
    expect(inactivityTimeout(Duration.seconds(15))).toStrictEqual(Duration.seconds(30))
    expect(inactivityTimeout(Duration.millis(100))).toStrictEqual(Duration.seconds(2))
  })
})

describe("an agent's health", () => {
  const states: ReadonlyArray<AgentLifecycle> = [
    "created",
    "starting",
    "start_timeout",
    "start_error",
    "ready",
    "shutting_down",
    "shutdown_timeout",
    "shutdown_error",
    "off"
  ]

  it("is good only of a connected agent that neither failed to start nor shuts down", () => {
    for (const state of states) {
      const isWell = state !== "start_error" && !isShuttingDown(state)
      expect([state, healthOf("connected", state).healthy]).toStrictEqual([state, isWell])
      for (const status of ["connecting", "timeout", "disconnected"] as const) expect(healthOf(status, state).healthy).toBe(false)
    }
  })

  it("gives one reason for each cause", () => {
    const reasons = [
      healthOf("disconnected", "off"),
      healthOf("connecting", "created"),
      healthOf("timeout", "created"),
      healthOf("disconnected", "ready"),
      healthOf("connected", "start_error"),
      healthOf("connected", "shutting_down")
    ].map(({ reason }) => reason)
    expect(new Set(reasons).size).toBe(6)
    expect(healthOf("connected", "start_timeout")).toStrictEqual({ healthy: true })
  })
})
