/** Browsers that users subscribe to push messages. notifications-audit-insights.md §A9. */
import { NotPushed, type PushTarget } from "@atelier/core/notifications"
import { NodePushSender } from "@atelier/node"
import { Effect, Schema } from "effect"
import { createECDH } from "node:crypto"
import { beforeEach, expect, it } from "vitest"
import { describeServer } from "../../../../test/http/server.js"

const pushed: Array<PushTarget> = []
/** How the push service answers each endpoint that does not accept messages. */
const refusals = new Map<string, NotPushed>()
/** What the push service waits for. */
let answering: Promise<void> | undefined

/** The sender of the product up to the network, which tests do not reach. */
const pushSender = {
  ...NodePushSender.make(),
  send: (to: PushTarget) => {
    pushed.push(to)
    const answer = refusals.get(to.endpoint) ?? Effect.void
    return answering === undefined
      ? answer
      : Effect.zipRight(
          Effect.promise(() => answering ?? Promise.resolve()),
          answer
        )
  }
}

const key = createECDH("prime256v1").generateKeys().toString("base64url")
const subscription = (endpoint: string, auth = "A") => ({
  endpoint,
  p256dh_key: key,
  auth_key: Buffer.alloc(16, auth).toString("base64url")
})
const refused = (isLasting: boolean) => new NotPushed({ reason: "refused", isLasting })

describeServer(
  "a push subscription",
  (server) => {
    beforeEach(() => {
      pushed.length = 0
      refusals.clear()
    })

    const statusOf = async (method: "POST" | "DELETE", path: string, token: string, body?: object) =>
      (await server().call(method, path, { token, body })).status

    it("is kept once for an endpoint, with the newest keys", async () => {
      const { token } = await server().aMember()
      const endpoint = "https://push.example.com/once"
      for (const auth of ["A", "B"]) {
        expect(await statusOf("POST", "/users/me/webpush/subscription", token, subscription(endpoint, auth))).toBe(204)
      }
      pushed.length = 0
      expect(await statusOf("POST", "/users/me/webpush/test", token)).toBe(204)
      expect(pushed).toMatchObject([subscription(endpoint, "B")])
      expect(await statusOf("DELETE", "/users/me/webpush/subscription", token, { endpoint })).toBe(204)
      expect(await statusOf("DELETE", "/users/me/webpush/subscription", token, { endpoint })).toBe(404)
    })

    it("is one of at most 50, also if more are asked for at once", async () => {
      const { token } = await server().aMember()
      const endpoints = Array.from({ length: 60 }, (_, index) => `https://push.example.com/many/${index}`)
      let answer = (): void => undefined
      answering = new Promise((resolve) => {
        answer = resolve
      })
      const subscribed = endpoints.map((endpoint) => statusOf("POST", "/users/me/webpush/subscription", token, subscription(endpoint)))
      await expect.poll(() => pushed.length).toBe(endpoints.length)
      answering = undefined
      answer()
      expect((await Promise.all(subscribed)).filter((status) => status === 204)).toHaveLength(50)
      pushed.length = 0
      expect(await statusOf("POST", "/users/me/webpush/test", token)).toBe(204)
      expect(pushed).toHaveLength(50)
    })

    it("ends when the push service says that the browser is gone", async () => {
      const { token } = await server().aMember()
      const [gone, busy] = ["https://push.example.com/gone", "https://push.example.com/busy"]
      for (const endpoint of [gone, busy]) await statusOf("POST", "/users/me/webpush/subscription", token, subscription(endpoint))
      refusals.set(gone, refused(true)).set(busy, refused(false))
      expect(await statusOf("POST", "/users/me/webpush/test", token)).toBe(502)
      refusals.clear()
      pushed.length = 0
      expect(await statusOf("POST", "/users/me/webpush/test", token)).toBe(204)
      expect(pushed.map(({ endpoint }) => endpoint)).toStrictEqual([busy])
    })

    it("is not kept if its test message is refused", async () => {
      const { token } = await server().aMember()
      const endpoint = "https://push.example.com/refused"
      for (const [isLasting, status] of [
        [true, 400],
        [false, 502]
      ] as const) {
        refusals.set(endpoint, refused(isLasting))
        expect(await statusOf("POST", "/users/me/webpush/subscription", token, subscription(endpoint))).toBe(status)
      }
      expect(await statusOf("DELETE", "/users/me/webpush/subscription", token, { endpoint })).toBe(404)
    })

    it("names each field that cannot be", async () => {
      const { token } = await server().aMember()
      const { body, status } = await server().call("POST", "/users/me/webpush/subscription", {
        token,
        body: { endpoint: "https://10.0.0.1/", p256dh_key: "?", auth_key: "?" }
      })
      const fields = Schema.decodeUnknownSync(Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) }))(body)
      expect([status, fields.validations.map(({ field }) => field).toSorted()]).toStrictEqual([400, ["auth_key", "endpoint", "p256dh_key"]])
      expect(pushed).toStrictEqual([])
    })

    it("needs the deployment's public key", async () => {
      const { body } = await server().call("GET", "/buildinfo")
      const { webpush_public_key } = Schema.decodeUnknownSync(Schema.Struct({ webpush_public_key: Schema.String }))(body)
      expect([Buffer.from(webpush_public_key, "base64url").length, webpush_public_key.startsWith("B")]).toStrictEqual([65, true])
    })
  },
  { pushSender }
)
