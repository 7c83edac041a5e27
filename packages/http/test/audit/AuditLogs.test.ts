import { AuditAction, AuditRepository, AuditedType } from "@atelier/core/audit"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Logger, Schema } from "effect"
import { expect, it } from "vitest"
import { anOrganization, join, licensed } from "../organizations/calls.js"
import { sqlite } from "../../../../test/store/databases.js"
import { type Answer, describeServerOnEach, type Person, startServer } from "../../../../test/http/server.js"
import { Response } from "../../src/wire/errors.js"

const Page = Schema.Struct({
  audit_logs: Schema.Array(
    Schema.Struct({
      action: AuditAction,
      resource_type: AuditedType,
      time: Timestamp.Timestamp,
      description: Schema.String,
      resource_link: Schema.String,
      is_deleted: Schema.Boolean,
      organization_id: Uuid.Uuid,
      organization: Schema.optional(Schema.Struct({ id: Uuid.Uuid })),
      user: Schema.NullOr(Schema.Struct({ id: Uuid.Uuid, organization_ids: Schema.Array(Uuid.Uuid) }))
    })
  ),
  count: Schema.Number,
  count_cap: Schema.Number
})

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]

describeServerOnEach(
  "the audit log",
  (server, once) => {
    const read = (q: string, { token }: Person = server().owner(), more = "") =>
      server().call("GET", `/audit?q=${encodeURIComponent(q)}${more}`, { token })
    const page = async (q: string, person?: Person, more?: string) => (await read(q, person, more)).as(Page)
    const generate = (body: object, { token }: Person = server().owner()) => server().call("POST", "/audit/testgenerate", { token, body })
    const fresh = () => crypto.randomUUID()

    once("keeps the entries of one day between two dates", async () => {
      const resource_id = fresh()
      for (const time of ["2022-08-14T23:59:59Z", "2022-08-15T00:00:00Z", "2022-08-15T23:59:59Z", "2022-08-16T00:00:00Z"]) {
        expect((await generate({ time, action: "create", resource_id })).status).toBe(204)
      }
      const times = async (dates: string) => (await page(`resource_id:${resource_id} ${dates}`)).audit_logs.map(({ time }) => time)
      expect(await times("date_from:2022-08-15 date_to:2022-08-15")).toStrictEqual(["2022-08-15T23:59:59.000Z", "2022-08-15T00:00:00.000Z"])
      expect(await times("date_from:2022-08-15")).toHaveLength(3)
    })

    once.each([
      ["invalid", "resource_type"],
      ["action:", "q"],
      ["foo:bar", "foo"],
      ["action:bogus", "action"],
      ["resource_id:x", "resource_id"],
      ["date_to:2026-13-01", "date_to"],
      ["organization:no-such", "organization"],
      ["action:write action:create", "action"]
    ])("refuses the query %s, naming %s", async (q, field) => {
      expect(refusal(await read(q))).toStrictEqual([400, [field]])
    })

    once("counts up to one more than its cap, and gives 100 entries without a limit", async () => {
      const resource_id = Uuid.Uuid.make(fresh())
      await server().run(
        Effect.gen(function* () {
          const { insert } = yield* AuditRepository
          for (let n = 0; n < 2005; n++) {
            yield* insert({
              id: Uuid.Uuid.make(fresh()),
              time: Timestamp.fromMillis(1.6e12 + n * 1000),
              user_id: server().owner().user.id,
              organization_id: Uuid.nil,
              ip: "",
              user_agent: "",
              resource_type: "user",
              resource_id,
              resource_target: "",
              action: "write",
              diff: {},
              status_code: 200,
              additional_fields: {},
              request_id: Uuid.nil
            })
          }
        })
      )
      const { audit_logs, count, count_cap } = await page(`resource_id:${resource_id}`)
      expect([audit_logs.length, count, count_cap]).toStrictEqual([100, 2001, 2000])
      expect(audit_logs[0]?.time).toBe(Timestamp.fromMillis(1.6e12 + 2004 * 1000))
      const last = await page(`resource_id:${resource_id}`, undefined, "&limit=3&offset=2004")
      expect(last.audit_logs.map(({ time }) => time)).toStrictEqual([Timestamp.fromMillis(1.6e12)])
    })

    once("shows an auditor of an organization only its entries", async () => {
      const { id } = await anOrganization(server())
      const resource_id = fresh()
      await generate({ resource_id, organization_id: id })
      await generate({ resource_id })
      const auditor = await server().aMember()
      await join(server(), id, auditor, ["organization-auditor"])
      const seen = await page(`resource_id:${resource_id}`, auditor)
      expect([seen.count, seen.audit_logs.map(({ organization }) => organization?.id)]).toStrictEqual([1, [id]])
      expect((await page(`resource_id:${resource_id}`)).count).toBe(2)
      const member = await server().aMember()
      expect((await read("foo:bar", member, "&limit=-1")).status).toBe(403)
      expect((await generate({}, auditor)).status).toBe(403)
      expect(refusal(await read("", undefined, "&limit=-1"))).toStrictEqual([400, ["limit"]])
    })

    once("describes and links an object until it is deleted", async () => {
      const { token } = server().owner()
      const body = { email: "vera@example.com", username: "vera", password: "SomeSecurePassword!", organization_ids: [Uuid.nil] }
      const { id } = (await server().call("POST", "/users", { token, body })).as(Schema.Struct({ id: Uuid.Uuid }))
      const q = `resource_id:${id} action:create resource_type:user`
      expect((await page(q)).audit_logs).toMatchObject([
        {
          description: "{user} created user {target}",
          resource_link: "/users?filter=vera",
          is_deleted: false,
          user: { id: server().owner().user.id, organization_ids: [] }
        }
      ])
      await server().call("DELETE", `/users/${id}`, { token })
      expect((await page(q)).audit_logs).toMatchObject([{ resource_link: "", is_deleted: true }])
    })

    it("finds the actor by name in any case, and by me", async () => {
      const resource_id = fresh()
      await generate({ resource_id, action: "stop", resource_type: "workspace" })
      const { username } = server().owner().user
      for (const name of [username.toUpperCase(), "me"]) {
        expect((await page(`username:${name} resource_id:${resource_id} workspace`)).count).toBe(1)
      }
      expect((await page(`username:nobody resource_id:${resource_id}`)).count).toBe(0)
    })
  },
  licensed
)

it("an entry is one line of the log of a host that asks for it", async () => {
  const linesWith = async (logAudit: boolean): Promise<ReadonlyArray<string>> => {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.stringLogger, (line) => void lines.push(line))
    const server = await startServer(sqlite, { logger, logLevel: "info", logAudit })
    try {
      const { token, user } = server.owner()
      const body = { username: user.username, name: "Ada\nLovelace" }
      expect((await server.call("PUT", "/users/me/profile", { token, body })).status).toBe(200)
    } finally {
      await server.close()
    }
    return lines.filter((line) => line.includes("audit_log"))
  }
  expect(await linesWith(false)).toStrictEqual([])
  const told = await linesWith(true)
  for (const line of told) expect(line).toMatch(/^timestamp=\S+ level=INFO fiber=\S+ message=audit_log [^\n]*$/)
  const own = told.filter((line) => line.includes("action=write") && line.includes("resource_type=user"))
  expect(own).toStrictEqual([expect.stringContaining("status_code=200")])
})
