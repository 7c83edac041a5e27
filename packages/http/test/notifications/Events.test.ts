/** Events that users are told of, as a dispatcher gets them and as the inbox shows them. notifications-audit-insights.md §A2. */
import { type Dispatcher, notificationEvents, type OutgoingNotification } from "@atelier/core/notifications"
import { Effect, Schema } from "effect"
import { beforeEach, expect, it, vi } from "vitest"
import { describeServer } from "../../../../test/server.js"

const delivered: Array<OutgoingNotification> = []

const recording: Dispatcher = { method: "recording", dispatch: (message) => Effect.sync(() => void delivered.push(message)) }

const Made = Schema.Struct({ id: Schema.String })
const Page = Schema.Struct({
  notifications: Schema.Array(Schema.Struct({ title: Schema.String, icon: Schema.String })),
  unread_count: Schema.Number
})

/** Messages to a user, once there are as many. */
const sentTo = async (userId: string, count: number): Promise<ReadonlyArray<OutgoingNotification>> => {
  const mine = () => delivered.filter(({ user_id }) => user_id === userId)
  await vi.waitFor(() => expect(mine().map(({ template_name }) => template_name)).toHaveLength(count), { timeout: 10_000, interval: 10 })
  return mine()
}

describeServer(
  "an event",
  (server) => {
    beforeEach(() => void (delivered.length = 0))

    it("tells administrators, and the user, what becomes of an account", async () => {
      const { call } = server()
      const owner = server().owner()
      const admin = await server().aMember({ rbac_roles: ["user-admin"] })
      const email = "<new>@example.com".replaceAll(/[<>]/g, "")
      const body = {
        email,
        username: "fresh",
        name: "Fr*sh <b>One</b>",
        password: "SomeSecurePassword!",
        organization_ids: ["00000000-0000-0000-0000-000000000000"]
      }
      const { id } = (await call("POST", "/users", { token: owner.token, body })).as(Made)
      const status = async (name: string) =>
        expect((await call("PUT", `/users/${id}/status/${name}`, { token: owner.token })).status).toBe(200)
      await status("suspend")
      await status("activate")
      expect((await call("DELETE", `/users/${id}`, { token: owner.token })).status).toBe(200)

      const messages = await sentTo(admin.user.id, 4)
      expect(messages.map(({ template_name }) => template_name).toSorted()).toStrictEqual([
        "User account activated",
        "User account created",
        "User account deleted",
        "User account suspended"
      ])
      const created = messages.find(({ template_id }) => template_id === notificationEvents.userCreated.id)
      expect(created).toMatchObject({
        targets: [id],
        title: "User account 'fresh' was created",
        payload: {
          labels: {
            created_account_name: "fresh",
            created_account_user_name: "Fr*sh <b>One</b>",
            initiator: owner.user.name || owner.user.username
          },
          data: { user: { id, name: "Fr*sh <b>One</b>", email } },
          actions: [{ label: "View accounts", url: expect.stringMatching(/^http.*[^/]\/deployment\/users\?filter=status%3Aactive$/) }]
        }
      })
      expect(created?.body).toContain("Fr\\*sh \\<b\\>One\\</b\\>")
      const page = (await call("GET", "/notifications/inbox", { token: admin.token })).as(Page)
      expect([page.unread_count, page.notifications[0]?.icon]).toStrictEqual([4, "DEFAULT_ICON_ACCOUNT"])
    })

    it("is not sent to a user who has switched it off, or has not switched it on", async () => {
      const { call } = server()
      const owner = server().owner()
      const { id: test } = notificationEvents.test
      const choose = (template_disabled_map: object) =>
        call("PUT", "/users/me/notifications/preferences", { token: owner.token, body: { template_disabled_map } })
      const send = async () => expect((await call("POST", "/notifications/test", { token: owner.token })).status).toBe(204)
      await choose({ [test]: true })
      await send()
      await choose({ [test]: false })
      await send()
      expect((await sentTo(owner.user.id, 1)).map(({ template_id }) => template_id)).toStrictEqual([test])
    })

    it("waits while the notifier is paused", async () => {
      const { call } = server()
      const owner = server().owner()
      const pause = async (notifier_paused: boolean) =>
        expect((await call("PUT", "/notifications/settings", { token: owner.token, body: { notifier_paused } })).status).toBe(200)
      await pause(true)
      expect((await call("POST", "/notifications/test", { token: owner.token })).status).toBe(204)
      const custom = { content: { title: "while paused", message: "" } }
      expect((await call("POST", "/notifications/custom", { token: owner.token, body: custom })).status).toBe(204)
      expect(delivered).toStrictEqual([])
      await pause(false)
      await call("POST", "/notifications/test", { token: owner.token })
      expect(await sentTo(owner.user.id, 3)).toHaveLength(3)
    })

    it("is queued once for the same content within a minute", async () => {
      const { call } = server()
      const owner = server().owner()
      const send = (title: string) =>
        call("POST", "/notifications/custom", { token: owner.token, body: { content: { title, message: "same" } } })
      await Promise.all([send("same"), send("same"), send("same"), send("other")])
      await send("last")
      const titles = (
        await vi.waitFor(() => {
          expect(delivered.map(({ title }) => title)).toContain("last")
          return delivered
        })
      ).map(({ title }) => title)
      // Two where the minute changed in between
      expect([3, 4]).toContain(titles.length)
      expect(new Set(titles)).toStrictEqual(new Set(["same", "other", "last"]))
    })
  },
  { dispatchers: [recording], options: { notificationsMethod: "recording" } }
)
