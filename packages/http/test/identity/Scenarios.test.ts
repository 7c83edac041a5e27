/** Recorded conversations about identity and authorization, in the dialect of existing clients. */
import { type Mail, Mailer } from "@atelier/core/notifications"
import { Effect, Layer, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { beforeAll, expect, it } from "vitest"
import { makePlayer } from "../../../../test/scenarios.js"
import { describeServer } from "../../../../test/server.js"

const folder = new URL("scenarios/", import.meta.url)

/** Conversations that run statements which no other test runs on PostgreSQL: the others are played on one database. */
const onEach = new Set([
  "files.jsonl",
  "groups-by-role.jsonl",
  "groups-lists.jsonl",
  "groups-members.jsonl",
  "members-lists.jsonl",
  "scim-users.jsonl",
  "secrets-batch.jsonl",
  "service-accounts.jsonl",
  "tokens-list-read-expire-delete.jsonl",
  "users-list-paging.jsonl",
  "users-look-up.jsonl",
  "workspace-quota.jsonl"
])

/** Messages that no step has taken yet, and who waits for one. */
const arrived: Array<Mail> = []
const waiting: Array<() => void> = []

const mailer = Layer.succeed(Mailer, {
  isConfigured: true,
  send: (mail) =>
    Effect.sync(() => {
      arrived.push(mail)
      for (const look of waiting.splice(0)) look()
    })
})

const passcode = async (address: string): Promise<string> => {
  const index = arrived.findIndex(({ to }) => to === address)
  if (index >= 0) return /otp=([0-9a-f-]{36})/.exec(arrived.splice(index, 1)[0]?.text ?? "")?.[1] ?? ""
  await new Promise<void>((resolve) => waiting.push(resolve))
  return passcode(address)
}

describeServer(
  "the recorded conversation",
  (server, once) => {
    let play: Awaited<ReturnType<typeof makePlayer>>

    beforeAll(async () => {
      play = await makePlayer({ url: server().url, header: "Coder-Session-Token", passcode })
    })

    for (const name of readdirSync(folder).toSorted()) {
      const test = onEach.has(name) ? it : once
      test(name, async () => {
        expect(await play(new URL(name, folder))).toEqual([])
      })
    }
  },
  {
    empty: true,
    compatibility: "coder",
    entitlements: { has: () => true },
    mailer,
    options: {
      scimAuthHeader: Redacted.make("scim-test-key"),
      oauth2GithubClientId: "client",
      oauth2GithubClientSecret: Redacted.make("secret"),
      oauth2GithubAllowEveryone: true
    }
  }
)
