/** Calls that meet at the same instant: at two replicas on PostgreSQL, and in the one process of SQLite. */
import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Answer, type Person, startServer, type TestServer } from "../../../../test/http/server.js"
import { aTaskTemplate, aTask } from "../../../../test/http/taskCalls.js"
import { anImportedVersion, aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { sqlite } from "../../../../test/store/databases.js"
import { startTwoServers } from "../network/twoServers.js"
import { aClient, aCode, post, redeem, refresh, someTokens, statusWith, Tokens } from "../oauth2/OAuthClient.js"

interface Pair {
  readonly near: TestServer
  readonly far: TestServer
  readonly close: () => Promise<void>
}

const given = { entitlements: { has: () => true }, provisioner: testEngines }

const pairs: ReadonlyArray<readonly [name: string, start: () => Promise<Pair>]> = [
  ["at two replicas on PostgreSQL", () => startTwoServers(given)],
  [
    "in one process on SQLite",
    async () => {
      const server = await startServer(sqlite, given)
      return { near: server, far: server, close: server.close }
    }
  ]
]

/** Two calls seldom meet in the one instant that matters. */
const rounds = 4

const WithId = Schema.Struct({ id: Schema.String })
const Builds = Schema.Array(
  Schema.Struct({
    build_number: Schema.Number,
    created_at: Schema.String,
    job: Schema.Struct({ completed_at: Schema.optional(Schema.String) })
  })
)

/** When a build ended, in milliseconds since 1970. */
const endOf = (build: (typeof Builds.Type)[number] | undefined): number => Date.parse(build?.job.completed_at ?? "")

/** The numbers from one down to 1. */
const numbersFrom = (highest: number): ReadonlyArray<number> => Array.from({ length: highest }, (_, index) => highest - index)

const statuses = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status).toSorted()

describe.each(pairs)("calls that meet %s", (_, start) => {
  let pair: Pair | undefined
  beforeAll(async () => {
    pair = await start()
  })
  afterAll(() => pair?.close())
  const servers = () => {
    if (pair === undefined) throw new Error("the servers have not started")
    return pair
  }
  const near = () => servers().near
  const owner = () => near().owner()

  /** Makes calls at both servers, in turns of the one that is first. */
  const meeting = (round: number, ...calls: ReadonlyArray<(server: TestServer) => Promise<Answer>>) => {
    const { far } = servers()
    const at = round % 2 === 0 ? [near(), far] : [far, near()]
    return Promise.all(calls.map((call, index) => call(at[index % 2] ?? far)))
  }

  const as =
    ({ token }: Pick<Person, "token">) =>
    (server: TestServer, method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown) =>
      server.call(method, path, { token, ...(body === undefined ? {} : { body }) })

  it("begin one build of a workspace", async () => {
    const template = await aTemplate(near())
    for (let round = 0; round < rounds; round += 1) {
      const workspace = await aWorkspace(near(), template, owner())
      const build = (transition: string) => (server: TestServer) =>
        as(owner())(server, "POST", `/workspaces/${workspace.id}/builds`, { transition })
      const answers = await meeting(round, build("stop"), build("stop"), build("delete"), build("stop"))
      const begun = answers.filter(({ status }) => status === 201)
      // A build may have ended before the next call came
      expect(begun.length).toBeGreaterThan(0)
      expect([...new Set(statuses(answers))].filter((status) => status !== 201 && status !== 409)).toStrictEqual([])
      const builds = (await as(owner())(near(), "GET", `/workspaces/${workspace.id}/builds`)).as(Builds)
      expect(builds.map(({ build_number }) => build_number)).toStrictEqual(numbersFrom(begun.length + 1))
      expect(
        builds.every(
          ({ created_at }, index) => index === 0 || endOf(builds[index]) <= Date.parse(builds[index - 1]?.created_at ?? created_at)
        )
      ).toBe(true)
    }
  })

  it("redeem a code and a refresh token once", async () => {
    const client = await aClient(near())
    for (let round = 0; round < rounds; round += 1) {
      const member = await near().aMember()
      const code = await aCode(near(), client, member)
      const redeemed = await meeting(round, ...Array.from({ length: 4 }, () => (server: TestServer) => redeem(server, client, code)))
      expect(statuses(redeemed)).toStrictEqual([200, 400, 400, 400])
      const tokens = await someTokens(near(), client, member)
      const refreshed = await meeting(
        round,
        ...Array.from({ length: 4 }, () => (server: TestServer) => refresh(server, client, tokens.refresh_token))
      )
      expect(statuses(refreshed)).toStrictEqual([200, 400, 400, 400])
      // A code that comes again ends its grant. Two windows of an editor may refresh at once
      const worksWith = [401, 200]
      for (const [index, answers] of [redeemed, refreshed].entries()) {
        for (const answer of answers.filter(({ status }) => status === 200)) {
          for (const server of [near(), servers().far]) {
            expect(await statusWith(server, answer.as(Tokens).access_token)).toBe(worksWith[index])
          }
        }
      }
    }
  })

  it("leave no token of a grant that is revoked while it is refreshed", async () => {
    const client = await aClient(near())
    for (let round = 0; round < rounds; round += 1) {
      const tokens = await someTokens(near(), client, await near().aMember())
      const revoke = (server: TestServer) => post(server, "revoke", { ...client, token: tokens.refresh_token })
      const again = (server: TestServer) => refresh(server, client, tokens.refresh_token)
      const [, refreshed] = await meeting(round, revoke, again, again)
      const held = refreshed?.status === 200 ? [refreshed.as(Tokens).access_token] : []
      for (const token of [tokens.access_token, ...held]) expect(await statusWith(near(), token)).toBe(401)
    }
  })

  it("leave a suspended user without a key that works", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const member = await near().aMember()
      const make = (server: TestServer) => as(member)(server, "POST", "/users/me/keys/tokens", {})
      const suspend = (server: TestServer) => as(owner())(server, "PUT", `/users/${member.user.id}/status/suspend`)
      const made = await meeting(round, make, suspend, make, make)
      for (const { status, body } of made) {
        if (status !== 201) continue
        const key = String(Reflect.get(Object(body), "key"))
        for (const server of [near(), servers().far]) expect((await server.call("GET", "/users/me", { token: key })).status).toBe(401)
      }
    }
  })

  it("keep one owner of two who demote each other", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const [one, two] = await Promise.all([near().aMember({ rbac_roles: ["owner"] }), near().aMember({ rbac_roles: ["owner"] })])
      const all = [one, two]
      const demote = (by: Person, whom: Person) => (server: TestServer) =>
        as(by)(server, "PUT", `/users/${whom.user.id}/roles`, { roles: [] })
      await meeting(round, demote(one, two), demote(two, one))
      const roles = await Promise.all(all.map(({ user }) => as(owner())(near(), "GET", `/users/${user.id}`)))
      const left = roles.filter(({ body }) => JSON.stringify(body).includes('"name":"owner"'))
      // A demoted owner may not demote
      expect(left).toHaveLength(1)
    }
  })

  it("add a member once, and leave no rights of one who was removed", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { id } = (await as(owner())(near(), "POST", "/organizations", { name: `meeting-${round}` })).as(WithId)
      const member = await near().aMember()
      const path = `/organizations/${id}/members/${member.user.id}`
      const add = (server: TestServer) => as(owner())(server, "POST", path)
      expect((await meeting(round, add, add, add)).filter(({ status }) => status < 300)).toHaveLength(1)
      const remove = (server: TestServer) => as(owner())(server, "DELETE", path)
      const promote = (server: TestServer) => as(owner())(server, "PUT", `${path}/roles`, { roles: ["organization-admin"] })
      const group = (await as(owner())(near(), "POST", `/organizations/${id}/groups`, { name: "team" })).as(WithId)
      const join = (server: TestServer) => as(owner())(server, "PATCH", `/groups/${group.id}`, { add_users: [member.user.id] })
      await meeting(round, remove, join, promote)
      expect((await as(owner())(near(), "GET", path)).status).toBe(404)
      const shown = await as(owner())(servers().far, "GET", `/groups/${group.id}`)
      expect(JSON.stringify(shown.body)).not.toContain(member.user.id)
    }
  })

  it("delete a group, or change it", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const group = (await as(owner())(near(), "POST", "/organizations/default/groups", { name: `group-${round}` })).as(WithId)
      const member = await near().aMember()
      const remove = (server: TestServer) => as(owner())(server, "DELETE", `/groups/${group.id}`)
      const join = (server: TestServer) => as(owner())(server, "PATCH", `/groups/${group.id}`, { add_users: [member.user.id] })
      const answers = await meeting(round, join, remove, remove, join)
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toStrictEqual([])
      expect((await as(owner())(near(), "GET", `/groups/${group.id}`)).status).toBe(404)
    }
  })

  it("give names once: of workspaces, groups, templates, tasks and users", async () => {
    const template = await aTemplate(near())
    const tasks = await aTaskTemplate(near())
    for (let round = 0; round < rounds; round += 1) {
      const name = `name-${round}`
      const creations: ReadonlyArray<readonly [string, unknown]> = [
        ["/users/me/workspaces", { template_id: template.id, name }],
        ["/organizations/default/groups", { name }],
        [
          "/users",
          { email: `${name}@example.com`, username: name, password: "SomeSecurePassword!", organization_ids: [template.organization_id] }
        ]
      ]
      for (const [path, body] of creations) {
        const create = (server: TestServer) => as(owner())(server, "POST", path, body)
        expect([path, ...statuses(await meeting(round, create, create, create))]).toStrictEqual([path, 201, 409, 409])
      }
      const body = { template_version_id: tasks.active_version_id, input: "do it", name: `task-of-${round}` }
      const create = (server: TestServer) => as(owner())(server, "POST", "/tasks/me", body)
      const made = await meeting(round, create, create, create)
      expect(made.filter(({ status }) => status === 201)).toHaveLength(1)
    }
  })

  it("never leave an archived version as the active one", async () => {
    const template = await aTemplate(near())
    for (let round = 0; round < rounds; round += 1) {
      const { id } = await anImportedVersion(near(), {}, { template_id: template.id })
      const promote = (server: TestServer) => as(owner())(server, "PATCH", `/templates/${template.id}/versions`, { id })
      const archive = (server: TestServer) => as(owner())(server, "POST", `/templateversions/${id}/archive`)
      const answers = await meeting(round, promote, archive)
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toStrictEqual([])
      const version = await as(owner())(near(), "GET", `/templateversions/${id}`)
      const shown = await as(owner())(near(), "GET", `/templates/${template.id}`)
      const isActive = Reflect.get(Object(shown.body), "active_version_id") === id
      expect(isActive && Reflect.get(Object(version.body), "archived") === true).toBe(false)
    }
  })

  it("delete a template, or make a workspace of it", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const template = await aTemplate(near())
      const remove = (server: TestServer) => as(owner())(server, "DELETE", `/templates/${template.id}`)
      const create = (server: TestServer) =>
        as(owner())(server, "POST", "/users/me/workspaces", { template_id: template.id, name: `of-${round}` })
      const [removed, created] = await meeting(round, remove, create)
      expect([removed?.status, created?.status].filter((status) => status !== undefined && status < 300)).toHaveLength(1)
    }
  })

  it("begin one build of a task for each call that is answered with success", async () => {
    const template = await aTaskTemplate(near())
    for (let round = 0; round < rounds / 2; round += 1) {
      const task = await aTask(near(), template, owner())
      const call = (verb: string) => (server: TestServer) => as(owner())(server, "POST", `/tasks/me/${task.id}/${verb}`)
      const answers = await meeting(round, call("pause"), call("pause"), call("resume"), call("pause"))
      const begun = answers.filter(({ status }) => status === 202).length
      expect(begun).toBeGreaterThan(0)
      const builds = (await as(owner())(near(), "GET", `/workspaces/${task.workspace_id}/builds`)).as(Builds)
      expect(builds).toHaveLength(begun + 1)
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toStrictEqual([])
    }
  })

  it("store one share of a port, and none that is deleted", async () => {
    const template = await aTaskTemplate(near(), {}, { max_port_share_level: "public" })
    const task = await aTask(near(), template, owner())
    const id = String(task.workspace_id)
    const path = `/workspaces/${id}/port-share`
    for (let round = 0; round < rounds; round += 1) {
      const port = 3_000 + round
      const share = (share_level: string) => (server: TestServer) =>
        as(owner())(server, "POST", path, { agent_name: "main", port, share_level, protocol: "http" })
      const lock = (server: TestServer) =>
        as(owner())(server, "PATCH", `/templates/${template.id}`, { max_port_share_level: round % 2 === 0 ? "owner" : "public" })
      const answers = await meeting(round, share("public"), lock, share("authenticated"), share("public"))
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toStrictEqual([])
      const shares = await as(owner())(servers().far, "GET", path)
      const levels = JSON.stringify(shares.body)
      expect(levels.split(`"port":${port}`).length).toBeLessThanOrEqual(2)
      if (round % 2 === 0) expect(levels).not.toMatch(/public|authenticated/)
    }
  })
})
