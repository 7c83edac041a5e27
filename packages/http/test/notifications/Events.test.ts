/** Events that users are told of, as a dispatcher gets them and as the inbox shows them. notifications-audit-insights.md §A2. */
import { type Dispatcher, notificationEvents, type OutgoingNotification } from "@atelier/core/notifications"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { describeServerOnEach, startServer } from "../../../../test/http/server.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { type AgentServer, describeAgentInterface, describeAgents } from "../agents/AgentServer.js"

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
  await vi.waitFor(() => expect(mine().map(({ template_name }) => template_name)).toHaveLength(count), { timeout: 60_000, interval: 10 })
  return mine()
}

describeServerOnEach(
  "an event",
  (server, once) => {
    beforeEach(() => void (delivered.length = 0))

    once("tells administrators, and the user, what becomes of an account", async () => {
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

    once("tells the administrators of templates who has deleted one", async () => {
      const { call } = server()
      const owner = server().owner()
      const admin = await server().aMember({ rbac_roles: ["template-admin"] })
      const { id } = await aTemplate(server(), {}, { name: "gone" })
      expect((await call("DELETE", `/templates/${id}`, { token: owner.token })).status).toBe(200)
      const [message] = await sentTo(admin.user.id, 1)
      expect(message).toMatchObject({
        title: "Template 'gone' was deleted",
        body: `The template **gone** was deleted by **${owner.user.username}**.`
      })
    })

    once("is not sent to users who have switched it off", async () => {
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

    once("waits while the notifier is paused", async () => {
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
        await vi.waitFor(
          () => {
            expect(delivered.map(({ title }) => title)).toContain("last")
            return delivered
          },
          { timeout: 60_000 }
        )
      ).map(({ title }) => title)
      // Two where the minute changed in between
      expect([3, 4]).toContain(titles.length)
      expect(new Set(titles)).toStrictEqual(new Set(["same", "other", "last"]))
    })
  },
  { dispatchers: [recording], provisioner: testEngines, options: { notificationsMethod: "recording" } }
)

/** The methods and states of the messages in the queue, and how often they were tried. */
const queued = (server: AgentServer) =>
  server.store(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT method, status, attempt_count FROM notification_messages ORDER BY created_at, method`
    )
  )

const requestPasscode = async (server: AgentServer) => {
  const { email } = server.owner().user
  expect((await server.call("POST", "/users/otp/request", { body: { email } })).status).toBe(204)
}

describeAgents("an event where no mail can be sent", (server) => {
  it("has a message for the inbox alone, and a passcode has none", async () => {
    await server().call("POST", "/notifications/test", { token: server().owner().token })
    await vi.waitFor(async () => expect(await queued(server())).toStrictEqual([{ method: "inbox", status: "sent", attempt_count: 1 }]), {
      timeout: 60_000
    })
    await requestPasscode(server())
    expect(await queued(server())).toHaveLength(1)
  })
})

describeAgentInterface(
  "an event where mail can be sent",
  (server) => {
    beforeEach(() => void (delivered.length = 0))

    it("is not delivered if the user switches it off before", async () => {
      const { call } = server()
      const { token, user } = server().owner()
      const put = async (path: string, body: object) => expect((await call("PUT", path, { token, body })).status).toBe(200)
      await put("/notifications/settings", { notifier_paused: true })
      await call("POST", "/notifications/test", { token })
      expect(await queued(server())).toStrictEqual([
        { method: "inbox", status: "pending", attempt_count: 0 },
        { method: "recording", status: "pending", attempt_count: 0 }
      ])
      await put("/users/me/notifications/preferences", { template_disabled_map: { [notificationEvents.test.id]: true } })
      await put("/notifications/settings", { notifier_paused: false })
      await call("POST", "/notifications/custom", { token, body: { content: { title: "wakes the notifier", message: "" } } })
      await sentTo(user.id, 1)
      expect(delivered.map(({ title }) => title)).toStrictEqual(["wakes the notifier"])
      await vi.waitFor(
        async () =>
          expect((await queued(server())).slice(0, 2)).toStrictEqual([
            { method: "inbox", status: "inhibited", attempt_count: 1 },
            { method: "recording", status: "inhibited", attempt_count: 1 }
          ]),
        { timeout: 60_000 }
      )
    })
  },
  { dispatchers: [recording], provisioner: testEngines, options: { notificationsMethod: "recording" } }
)

describe("a server", () => {
  it.each([
    ["the inbox as the default method", { notificationsMethod: "inbox" }, "options.notificationsMethod"],
    ["a method that is unknown", { notificationsMethod: "sms" }, "options.notificationsMethod"],
    [
      "deliveries that may last as long as their lease",
      { notificationsDispatchTimeout: "2 minutes", notificationsLeasePeriod: "2 minutes" },
      "options.notificationsDispatchTimeout"
    ]
  ] as const)("does not start with %s", async (_, options, option) => {
    await expect(startServer(sqlite, { options })).rejects.toMatchObject({ _tag: "StartError", option })
  })
})
