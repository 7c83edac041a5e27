import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, type TestServer, unlicensed } from "../../../../../test/http/server.js"

const entitlements = { has: (feature: string) => feature === "advanced_template_scheduling" }
const shared = { raw_schedule: "CRON_TZ=UTC 0 0 * * *", user_set: false, user_can_set: true, time: "00:00", timezone: "UTC" }
const own = {
  raw_schedule: "CRON_TZ=Europe/Berlin 5 23 * * *",
  user_set: true,
  user_can_set: true,
  time: "23:05",
  timezone: "Europe/Berlin"
}

const get = (server: TestServer, token: string, user = "me") => server.call("GET", `/users/${user}/quiet-hours`, { token })
const put = (server: TestServer, token: string, schedule: unknown, user = "me") =>
  server.call("PUT", `/users/${user}/quiet-hours`, { token, body: { schedule } })

describeInterface(
  "quiet hours without their license",
  (server) => {
    it("are refused without a license, before authentication", async () => {
      const answers = await Promise.all([
        server().call("GET", "/users/me/quiet-hours"),
        server().call("PUT", "/users/nobody/quiet-hours", { body: {} }),
        get(server(), server().owner().token)
      ])
      expect(answers.map(({ status }) => status)).toStrictEqual([403, 403, 403])
    })
  },
  unlicensed
)

describeInterface(
  "quiet hours",
  (server) => {
    it("are the deployment's until a user sets others, and again after clearing them", async () => {
      const { token, user } = await server().aMember()
      expect(await get(server(), token)).toMatchObject({ status: 200, body: [{ ...shared, next: expect.stringMatching(/T00:00:00/) }] })
      expect(await put(server(), token, "CRON_TZ=Europe/Berlin  5 23 * * *")).toMatchObject({ status: 200, body: [own] })
      expect((await get(server(), server().owner().token, user.username)).body).toMatchObject([own])
      expect((await put(server(), token, " ")).body).toMatchObject([shared])
      expect(await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))).toMatchObject([
        { action: "write", user_id: user.id, diff: { quiet_hours_schedule: { old: "", new: own.raw_schedule, secret: false } } },
        { action: "write", diff: { quiet_hours_schedule: { old: own.raw_schedule, new: "", secret: false } } }
      ])
    })

    it("are refused where they are no time of every day, naming the field", async () => {
      const { token } = await server().aMember()
      for (const schedule of ["", "0 0,12 * * *", "0 0 * * 1", "CRON_TZ=Nowhere 0 0 * * *"]) {
        const answer = await put(server(), token, schedule)
        expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field: "schedule" }] }])
      }
      expect((await get(server(), token)).body).toMatchObject([shared])
    })

    it("need a session, and the right to change the user's data", async () => {
      const [member, other, auditor] = await Promise.all([
        server().aMember(),
        server().aMember(),
        server().aMember({ rbac_roles: ["auditor"] })
      ])
      const { id } = member.user
      expect((await server().call("GET", "/users/me/quiet-hours")).status).toBe(401)
      expect((await get(server(), other.token, id)).status).toBe(404)
      expect((await put(server(), other.token, "0 1 * * *", id)).status).toBe(404)
      expect((await get(server(), auditor.token, id)).status).toBe(200)
      expect((await put(server(), auditor.token, "0 1 * * *", id)).status).toBe(404)
      expect((await put(server(), server().owner().token, "0 1 * * *", id)).status).toBe(200)
    })
  },
  { entitlements }
)

describeInterface(
  "quiet hours that are everybody's",
  (server) => {
    it("are shown and not changed", async () => {
      const { token } = server().owner()
      expect((await put(server(), token, "0 1 * * *")).status).toBe(403)
      expect((await get(server(), token)).body).toMatchObject({
        raw_schedule: "CRON_TZ=UTC 30 3 * * *",
        user_can_set: false,
        user_set: false,
        time: "03:30"
      })
    })
  },
  {
    entitlements,
    compatibility: "coder",
    options: { defaultQuietHoursSchedule: "CRON_TZ=UTC 30 3 * * *", allowCustomQuietHours: false }
  }
)
