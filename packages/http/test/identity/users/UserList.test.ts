import { SqlClient } from "@effect/sql"
import { type User, UserRepository } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { aUser } from "../../../../../test/records/builders.js"
import { describeServer, describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"

const Page = Schema.Struct({ count: Schema.Number, users: Schema.Array(Schema.Struct({ id: Schema.String, username: Schema.String })) })
const Refusal = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })

const get = (server: TestServer, query: string, { token }: Pick<Person, "token"> = server.owner()) =>
  server.call("GET", `/users${query}`, { token })

const search = async (server: TestServer, q: string, rest = "") =>
  (await get(server, `?q=${encodeURIComponent(q)}${rest}`)).as(Page).users.map(({ username }) => username)

const store = (server: TestServer, ...many: ReadonlyArray<Partial<User>>) =>
  server.run(
    Effect.gen(function* () {
      const users = yield* UserRepository
      const made = yield* Effect.forEach(many, (fields) => aUser(fields))
      yield* Effect.forEach(made, (user) => users.insert(user, null), { discard: true })
      return made
    })
  )

describeServer("the list of users", (server) => {
  it("shows members only themselves and administrators all users", async () => {
    const member = await server().aMember({ username: "plain" })
    const admin = await server().aMember({ username: "admin", rbac_roles: ["user-admin"] })
    await store(server(), { username: "gone", deleted: true })
    const own = await get(server(), "", member)
    expect([own.status, own.body]).toMatchObject([
      200,
      { count: 1, users: [{ id: member.user.id, username: "plain", has_ai_seat: false }] }
    ])
    expect((await get(server(), "/", admin)).as(Page)).toMatchObject({
      count: 3,
      users: [{ username: "admin" }, { username: "owner" }, { username: "plain" }]
    })
    expect((await get(server(), "", { token: "none" })).status).toBe(401)
    const [shown] = (await get(server(), "?q=username:plain", admin)).as(
      Schema.Struct({ users: Schema.Array(Schema.Struct({ organization_ids: Schema.Array(Schema.String) })) })
    ).users
    expect(shown?.organization_ids).toHaveLength(1)
  })

  it("shows a member nothing about others by the page's position", async () => {
    const member = await server().aMember({ username: "zoe" })
    const [other] = await store(server(), { username: "abel" })
    const nobody = { count: 0, users: [] }
    expect((await get(server(), `?after_id=${other?.id}`, member)).body).toStrictEqual(nobody)
    expect((await get(server(), `?after_id=${crypto.randomUUID()}`, member)).body).toStrictEqual(nobody)
    // The nil id counts as absent
    expect((await get(server(), `?after_id=${Uuid.nil}`, member)).body).toMatchObject({ count: 1 })
  })

  it.each([
    ["status:inactive", ["status"]],
    ["foo:bar", ["foo"]],
    ["a:b:c", ["q"]],
    ["login_type:pigeon role:owner service_account:maybe", ["login_type", "service_account"]]
  ])("refuses the search %s, naming %j", async (q, fields) => {
    const answer = await get(server(), `?q=${encodeURIComponent(q)}`)
    expect([answer.status, answer.as(Refusal).validations.map(({ field }) => field)]).toStrictEqual([400, fields])
  })

  it("refuses pages that cannot be, naming every parameter", async () => {
    const answer = await get(server(), "?limit=-1&offset=2147483648&after_id=7")
    expect([
      answer.status,
      answer
        .as(Refusal)
        .validations.map(({ field }) => field)
        .toSorted()
    ]).toStrictEqual([400, ["after_id", "limit", "offset"]])
  })
})

describeServerOnEach("the pages of users", (server) => {
  it("follow each other by username in any case, and are counted whole", async () => {
    const names = ["Alan", "barbara", "Claude", "donald", "Edsger", "frances", "Grace", "hedy", "Ida"]
    const users = await store(server(), ...names.toReversed().map((username) => ({ username })))
    const idOf = (name: string) => users.find(({ username }) => username === name)?.id
    const page = async (query: string) => {
      const { count, users } = (await get(server(), query)).as(Page)
      return { count, names: users.map(({ username }) => username) }
    }
    expect(await page("")).toStrictEqual({ count: 10, names: [...names, "owner"] })
    expect(await page("?limit=1")).toStrictEqual({ count: 10, names: ["Alan"] })
    expect(await page("?limit=3&offset=8")).toStrictEqual({ count: 10, names: ["Ida", "owner"] })
    expect(await page("?offset=11")).toStrictEqual({ count: 0, names: [] })
    expect(await page(`?after_id=${idOf("frances")}`)).toStrictEqual({ count: 4, names: ["Grace", "hedy", "Ida", "owner"] })
    expect(await page(`?after_id=${idOf("frances")}&limit=2&offset=1`)).toStrictEqual({ count: 4, names: ["hedy", "Ida"] })
    // A user that the search leaves out is still a place in the list
    expect(await page(`?after_id=${idOf("frances")}&q=y`)).toStrictEqual({ count: 1, names: ["hedy"] })
  })
})

describeServer("a search for users", (server) => {
  it("combines what is asked for", async () => {
    const at = Timestamp.fromMillis(Date.UTC(2026, 0, 2))
    await store(
      server(),
      { username: "Ada-L", name: "Countess of Lovelace", email: "Ada@analytical.example", rbac_roles: ["auditor"], created_at: at },
      { username: "per_cent", name: "100% \\ sure", email: "p@example.com", status: "suspended", login_type: "github" },
      { username: "robot", name: "", email: "", login_type: "none", is_service_account: true, status: "dormant", last_seen_at: at }
    )
    await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        yield* sql`UPDATE users SET github_com_user_id = 583231 WHERE username = 'per_cent'`
      })
    )
    const found = (q: string) => search(server(), q)
    expect(await found("LOVELACE")).toStrictEqual(["Ada-L"])
    expect(await found("analytical")).toStrictEqual(["Ada-L"])
    expect(await found("da-l")).toStrictEqual(["Ada-L"])
    expect(await found("%")).toStrictEqual(["per_cent"])
    expect(await found("_")).toStrictEqual(["per_cent"])
    expect(await found("\\")).toStrictEqual(["per_cent"])
    expect(await found('name:"of lovelace"')).toStrictEqual(["Ada-L"])
    expect(await found("username:ada-l")).toStrictEqual(["Ada-L"])
    expect(await found("username:ada")).toStrictEqual([])
    expect(await found("email:ada@ANALYTICAL.example")).toStrictEqual(["Ada-L"])
    expect(await found("status:suspended,dormant")).toStrictEqual(["per_cent", "robot"])
    expect(await found("status:suspended login_type:none")).toStrictEqual([])
    expect(await found("role:auditor,owner")).toStrictEqual(["Ada-L", "owner"])
    expect(await found("role:nonsense")).toStrictEqual([])
    expect(await found("role:member")).toStrictEqual(["Ada-L", "owner", "per_cent", "robot"])
    expect(await found("login_type:github,password")).toStrictEqual(["Ada-L", "owner", "per_cent"])
    expect(await found("service_account:true")).toStrictEqual(["robot"])
    expect(await found("github_com_user_id:583231")).toStrictEqual(["per_cent"])
    expect(await found("github_com_user_id:1")).toStrictEqual([])
    expect(await found(`last_seen_after:"${at}" last_seen_before:"${at}"`)).toStrictEqual(["robot"])
    expect(await found('last_seen_before:"0001-01-01T00:00:00Z" service_account:false role:auditor')).toStrictEqual(["Ada-L"])
    expect(await found(`created_before:"${at}"`)).toStrictEqual(["Ada-L"])
  })
})
