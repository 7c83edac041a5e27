/** Recorded conversations about identity and authorization, in the dialect of existing clients. */
import { type Mail, Mailer } from "@atelier/core/notifications"
import { Effect, Layer, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { beforeAll, expect, it } from "vitest"
import { spread } from "../../../../test/store/databases.js"
import { makePlayer } from "../../../../test/http/scenarios.js"
import { describeServerOn } from "../../../../test/http/server.js"

const folder = new URL("scenarios/", import.meta.url)

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

for (const [database, names] of spread(readdirSync(folder))) {
  describeServerOn(
    [database],
    "the recorded conversation",
    (server) => {
      let play: Awaited<ReturnType<typeof makePlayer>>

      beforeAll(async () => {
        play = await makePlayer({ url: server().url, enter: server().aPerson, header: "Coder-Session-Token", passcode })
      })

      for (const name of names) {
        it(name, async () => {
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
}
