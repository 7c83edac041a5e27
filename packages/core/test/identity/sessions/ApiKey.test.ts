import { ApiKey, isExpired, lifetimeSeconds, newCredential, parseCredential, useOf } from "@atelier/core/identity"
import { Cryptography, Timestamp } from "@atelier/core/platform"
import { it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { describe, expect } from "vitest"

const now = Timestamp.fromMillis(Date.parse("2026-03-01T12:00:00Z"))

const session = {
  last_used: Timestamp.minus(now, "30 minutes"),
  ip: "192.0.2.1",
  expires_at: Timestamp.plus(now, "24 hours"),
  lifetime_seconds: 86_400,
  login_type: "password"
} satisfies Partial<ApiKey>

const use = (key: Partial<ApiKey>, slides = true) =>
  useOf({ ...session, ...key }, { now: Timestamp.toMillis(now), ip: "192.0.2.2", slides })

describe("a credential", () => {
  it.effect("is an id of 10 and a secret of 22 letters and digits", () =>
    Effect.gen(function* () {
      const { hashedSecret, id, key } = yield* newCredential
      expect(Redacted.value(key)).toMatch(/^[0-9A-Za-z]{10}-[0-9A-Za-z]{22}$/)
      expect(parseCredential(Redacted.value(key))?.id).toBe(id)
      expect(hashedSecret).toHaveLength(32)
    }).pipe(Effect.provide(Cryptography.layerWeb))
  )

  it.each([
    "",
    "-",
    "abc",
    `${"a".repeat(10)}-${"b".repeat(21)}`,
    `${"a".repeat(10)}-${"b".repeat(22)}\n`,
    `${"a".repeat(10)}_${"b".repeat(22)}`
  ])("is not read from %j", (text) => {
    expect(parseCredential(text)).toBeUndefined()
  })
})

describe("using a key", () => {
  it("is not recorded again within an hour", () => {
    expect(use({ last_used: Timestamp.minus(now, "1 hour") })).toBeUndefined()
  })

  it("is recorded with the address after an hour", () => {
    expect(use({ last_used: Timestamp.minus(now, Duration.millis(3_600_001)) })).toStrictEqual({
      last_used: now,
      ip: "192.0.2.2",
      expires_at: session.expires_at
    })
  })

  it("extends a session by its lifetime once an hour of it has passed", () => {
    expect(use({ expires_at: Timestamp.plus(now, "1379 minutes") })).toStrictEqual({
      last_used: session.last_used,
      ip: session.ip,
      expires_at: Timestamp.plus(now, "24 hours")
    })
    expect(use({ expires_at: Timestamp.plus(now, "1410 minutes") })).toBeUndefined()
  })

  it("never extends a token, nor anything where the deployment does not want it", () => {
    const expires_at = Timestamp.plus(now, "1 minute")
    expect(use({ expires_at, login_type: "token" })).toBeUndefined()
    expect(use({ expires_at }, false)).toBeUndefined()
  })

  it("never extends a lifetime under an hour", () => {
    expect(use({ lifetime_seconds: 3_599, expires_at: Timestamp.plus(now, Duration.millis(0)) })).toBeUndefined()
  })
})

describe("a key", () => {
  it("is good at the instant it expires and not after", () => {
    expect(isExpired({ expires_at: now }, Timestamp.toMillis(now))).toBe(false)
    expect(isExpired({ expires_at: Timestamp.minus(now, Duration.millis(1)) }, Timestamp.toMillis(now))).toBe(true)
  })

  it("stores whole seconds of its lifetime, a day for less than one", () => {
    expect([1, 999, 1000, 1999].map((millis) => lifetimeSeconds(Duration.millis(millis)))).toStrictEqual([86_400, 86_400, 1, 1])
  })
})
