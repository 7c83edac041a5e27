import { Timestamp, Uuid } from "@atelier/core/platform"
import { endAction, endOfLife } from "@atelier/core/workspaces"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"

const expiresAt = Timestamp.Timestamp.make("2026-03-01T00:00:00.000Z")
const seconds = (count: number) => Timestamp.plus(expiresAt, count * 1_000)
const workspace = { owner_id: Uuid.Uuid.make("00000000-0000-0000-0000-000000000001"), deleted: false, expires_at: expiresAt }
const ended = { started_at: expiresAt, canceled_at: null, completed_at: expiresAt, error: "" }
const running = { ...ended, completed_at: null }
const started = { transition: "start", job: ended } as const

describe("the end of a workspace's time", () => {
  it("is set in milliseconds, from a second to 30 days", () => {
    const chosen = (timeout: number | null | undefined) => Effect.runSync(Effect.either(endOfLife(timeout, expiresAt)))
    expect(chosen(undefined)).toStrictEqual(Either.right(null))
    expect(chosen(null)).toStrictEqual(Either.right(null))
    expect(chosen(1_000)).toStrictEqual(Either.right(seconds(1)))
    expect(chosen(2_592_000_000)).toStrictEqual(Either.right(seconds(2_592_000)))
    for (const timeout of [-1, 0, 999, 2_592_000_001]) {
      expect(Either.getLeft(chosen(timeout))).toMatchObject({ value: { validations: [{ field: "timeout_ms" }] } })
    }
  })

  it("deletes a workspace in any state, at its instant and not before", () => {
    const stopped = { transition: "stop", job: ended } as const
    const failed = { transition: "start", job: { ...ended, error: "broken" } } as const
    for (const build of [started, stopped, failed]) {
      expect(endAction({ workspace, build }, Timestamp.minus(expiresAt, 1))).toBeNull()
      expect(endAction({ workspace, build }, expiresAt)).toBe("delete")
    }
    expect(endAction({ workspace: { ...workspace, expires_at: null }, build: started }, seconds(1))).toBeNull()
    expect(endAction({ workspace: { ...workspace, deleted: true }, build: started }, seconds(1))).toBeNull()
  })

  it("cancels an unfinished build first, unless that is deleted or canceled already", () => {
    const action = (transition: "start" | "delete", job: typeof ended | typeof running | typeof canceling) =>
      endAction({ workspace, build: { transition, job } }, seconds(1))
    const canceling = { ...running, canceled_at: expiresAt }
    expect(action("start", running)).toBe("cancel")
    expect(action("start", canceling)).toBeNull()
    expect(action("delete", running)).toBeNull()
  })

  it("is tried again after pauses that grow to an hour", () => {
    const failedAt = (second: number, now: number) => {
      const job = { ...ended, completed_at: seconds(second), error: "broken" }
      return endAction({ workspace, build: { transition: "delete", job } }, seconds(now))
    }
    expect([failedAt(2, 11), failedAt(2, 12)]).toStrictEqual([null, "delete"])
    expect([failedAt(60, 119), failedAt(60, 120)]).toStrictEqual([null, "delete"])
    expect([failedAt(10_000, 13_599), failedAt(10_000, 13_600)]).toStrictEqual([null, "delete"])
  })
})
