import { sessionEnd, type SessionEnd, statusAfter, UserStatus } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"

const secret = new Uint8Array([1, 2, 3])
const expires_at = Timestamp.Timestamp.make("2026-03-01T00:00:00.000Z")
const now = Timestamp.toMillis(expires_at)
const session = { hashed_secret: secret, deleted: false, expires_at, status: "active" as const }

describe("a session", () => {
  it.each<[string, Partial<typeof session> & { readonly status?: UserStatus }, Uint8Array, number, SessionEnd | undefined]>([
    ["lasts until the instant it expires", {}, secret, now, undefined],
    ["ends after that instant", {}, secret, now + 1, "expired"],
    ["does not belong to a caller with another secret", {}, new Uint8Array([1, 2, 4]), now, "wrong_secret"],
    ["ends with its user", { deleted: true }, secret, now, "user_deleted"],
    ["hides from another secret that its user is deleted", { deleted: true }, new Uint8Array([0]), now + 1, "wrong_secret"]
  ])("%s", (_, fields, hashedSecret, at, expected) => {
    expect(sessionEnd({ session: { ...session, ...fields }, hashedSecret, now: at })).toBe(expected)
  })

  it("ends when its user's status does not allow being seen", () => {
    for (const status of UserStatus.literals) {
      const end = sessionEnd({ session: { ...session, status }, hashedSecret: secret, now })
      expect(end).toBe(statusAfter(status, "see") === undefined ? "user_suspended" : undefined)
    }
  })
})
