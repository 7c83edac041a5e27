/** What tokens can be used for, and that none makes or reads more than itself. identity.md §3. */
import { resourceActions } from "@atelier/core/access"
import { Schema } from "effect"
import * as fc from "fast-check"
import { beforeAll, expect, it } from "vitest"
import { describeInterface, type Person, type TestServer } from "../../../../../test/http/server.js"

const Key = Schema.Struct({ key: Schema.String })
const Tokens = Schema.Array(Schema.Struct({ id: Schema.String }))

/** The specification's table of composite scopes. */
const composites: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "coder:application_connect": { workspace: "application_connect" },
  "coder:workspaces.create": { template: "read use", workspace: "create read update start stop", organization_member: "read" },
  "coder:workspaces.operate": { template: "read", workspace: "read update start stop", organization_member: "read" },
  "coder:workspaces.delete": { template: "read use", workspace: "read delete", organization_member: "read" },
  "coder:workspaces.access": { template: "read", workspace: "read ssh application_connect", organization_member: "read" },
  "coder:templates.build": { template: "read", file: "create read", provisioner_jobs: "read" },
  "coder:templates.author": { template: "read create update delete view_insights", file: "create read" },
  "coder:apikeys.manage_self": { api_key: "create read update delete" }
}

/** The specification's low-level names that a token can be asked for with. */
const requestable: Readonly<Record<string, string>> = {
  workspace: "read create update delete ssh start stop application_connect *",
  template: "read create update delete use *",
  api_key: "read create update delete *",
  file: "read create *",
  user: "read read_personal update_personal *",
  user_secret: "read create update delete *",
  user_skill: "read create update delete *",
  task: "read create update delete *",
  organization: "read update delete *"
}

const pairs: ReadonlyArray<string> = Object.entries(resourceActions).flatMap(([type, actions]) =>
  actions.map((action) => `${type}:${action}`)
)

/** Each scope of the table with the pairs it grants. */
const table: ReadonlyArray<readonly [scope: string, pairs: ReadonlyArray<string>]> = [
  ["coder:all", pairs],
  ...Object.entries(composites).map(
    ([scope, granted]) =>
      [scope, Object.entries(granted).flatMap(([type, actions]) => actions.split(" ").map((action) => `${type}:${action}`))] as const
  ),
  ...Object.entries(requestable).flatMap(([type, actions]) =>
    actions
      .split(" ")
      .map(
        (action) =>
          [`${type}:${action}`, action === "*" ? pairs.filter((pair) => pair.startsWith(`${type}:`)) : [`${type}:${action}`]] as const
      )
  )
]

const scopeNames = table.map(([scope]) => scope)

const createToken = (server: TestServer, token: string, body: object) => server.call("POST", "/users/me/keys/tokens", { token, body })

const checksOf = (organization_id: string) =>
  Object.fromEntries(
    pairs.map((pair) => [
      pair,
      { object: { resource_type: pair.split(":")[0], owner_id: "me", organization_id }, action: pair.split(":")[1] }
    ])
  )

/** The pairs that a credential may use on what is its user's, in an organization. */
const powers = async (server: TestServer, token: string, organization: string): Promise<ReadonlySet<string>> => {
  const answer = await server.call("POST", "/authcheck", { token, body: { checks: checksOf(organization) } })
  const answers = answer.as(Schema.Record({ key: Schema.String, value: Schema.Boolean }))
  return new Set(pairs.filter((pair) => answers[pair]))
}

const organizationOf = async (server: TestServer, { token }: Person): Promise<string> =>
  (await server.call("GET", "/users/me", { token })).as(Schema.Struct({ organization_ids: Schema.NonEmptyArray(Schema.String) }))
    .organization_ids[0]

describeInterface("a scope", (server) => {
  let owner: Person
  let member: Person
  let organization: string
  beforeAll(async () => {
    owner = await server().aMember({ rbac_roles: ["owner"] })
    member = await server().aMember()
    organization = await organizationOf(server(), owner)
  })

  it("is one of the public list", async () => {
    const { external } = (await server().call("GET", "/auth/scopes")).as(Schema.Struct({ external: Schema.Array(Schema.String) }))
    expect(external).toStrictEqual(scopeNames.toSorted())
    const internal = pairs.filter((pair) => !scopeNames.includes(pair))
    const refused = await Promise.all(
      [...internal, "*:*", "workspace", "workspace:", "coder:", "Workspace:read", "workspace:READ", "no_user_data"].map(async (scope) => {
        const answer = await createToken(server(), member.token, { scopes: [scope] })
        return answer.status === 400 && answer.text.includes(scope) ? [] : [scope]
      })
    )
    expect(refused.flat()).toStrictEqual([])
  })

  it("narrows its user's rights to those of the table", async () => {
    for (const person of [owner, member]) {
      const whole = await powers(server(), person.token, organization)
      // Members may do little, so that single pairs say nothing of them
      for (const [scope, granted] of person === owner ? table : table.filter(([scope]) => scope.startsWith("coder:"))) {
        const { key } = (await createToken(server(), person.token, { scopes: [scope] })).as(Key)
        const own = await powers(server(), key, organization)
        expect([scope, [...own].toSorted()]).toStrictEqual([scope, granted.filter((pair) => whole.has(pair)).toSorted()])
      }
    }
  })

  it("is joined with others of the same token", async () => {
    const scopes = ["coder:templates.build", "user:read"]
    const { key } = (await createToken(server(), owner.token, { scopes })).as(Key)
    const granted = table.filter(([scope]) => scopes.includes(scope)).flatMap(([, pairs]) => pairs)
    expect([...(await powers(server(), key, organization))].toSorted()).toStrictEqual(granted.toSorted())
  })
})

/** A step by a holder of several keys: `holder` is one of those created so far. */
const step = (ids: ReadonlyArray<string>) =>
  fc.record({
    holder: fc.nat(),
    scopes: fc.oneof(
      { weight: 3, arbitrary: fc.subarray(["api_key:create", "api_key:read", "user:read", "coder:apikeys.manage_self", "workspace:read"]) },
      { weight: 1, arbitrary: fc.subarray([...scopeNames], { maxLength: 4 }) }
    ),
    allow_list: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(
          fc.oneof(
            fc.constantFrom("*:*", "api_key:*", "user:*", "workspace:*"),
            fc.constantFrom(...ids).chain((id) => fc.constantFrom(`user:${id}`, `*:${id}`, `workspace:${id}`))
          ),
          { maxLength: 3 }
        )
      }
    )
  })

describeInterface("a token", (server) => {
  it("creates, reads and ends nothing beyond its creator's rights", async () => {
    const owner = await server().aMember({ rbac_roles: ["owner"] })
    const other = await server().aMember()
    const organization = await organizationOf(server(), owner)
    const whole = (await createToken(server(), other.token, { token_name: "of-another" })).as(Key).key
    const paths = [
      "/users/me",
      `/users/${other.user.id}`,
      "/users/me/keys/tokens/tokenconfig",
      `/users/${other.user.id}/keys/${whole.slice(0, 10)}`,
      `/users/me/keys/${owner.token.slice(0, 10)}`
    ]

    /** What a credential is good for, as far as calls show it. */
    const reach = async (token: string): Promise<ReadonlySet<string>> => {
      const [own, statuses, list] = await Promise.all([
        powers(server(), token, organization),
        Promise.all(paths.map(async (path) => [path, (await server().call("GET", path, { token })).status] as const)),
        server().call("GET", "/users/me/keys/tokens?include_all=true", { token })
      ])
      const listed = list.status === 200 ? list.as(Tokens).map(({ id }) => `token ${id}`) : []
      return new Set([...own, ...statuses.filter(([, status]) => status === 200).map(([path]) => path), ...listed])
    }

    await fc.assert(
      fc.asyncProperty(fc.array(step([owner.user.id, other.user.id]), { minLength: 3, maxLength: 6 }), async (steps) => {
        const holders = [owner.token]
        for (const { allow_list, holder, scopes } of steps) {
          const parent = holders[holder % holders.length] ?? owner.token
          const answer = await createToken(server(), parent, { scopes, allow_list })
          const may = (await powers(server(), parent, organization)).has("api_key:create")
          expect(answer.status === 201 ? may : answer.status === 403 || answer.status === 404).toBe(true)
          if (answer.status !== 201) continue
          const { key } = answer.as(Key)
          // The child first: the parent's list would hold what came after otherwise
          const child = await reach(key)
          const above = await reach(parent)
          expect([...child].filter((one) => !above.has(one))).toStrictEqual([])
          holders.push(key)
          for (const [method, path] of [
            ["PUT", `/users/${other.user.id}/keys/${whole.slice(0, 10)}/expire`],
            ["DELETE", `/users/me/keys/${owner.token.slice(0, 10)}`]
          ] as const) {
            const power = method === "PUT" ? "api_key:update" : "api_key:delete"
            // Those that may are left alone: they would end the credentials of this test
            if (!child.has(power)) expect((await server().call(method, path, { token: key })).status).toBe(404)
          }
        }
        for (const [index, key] of holders.slice(1).entries()) {
          const [method, path, power] =
            index % 2 === 0
              ? (["PUT", `/users/me/keys/${key.slice(0, 10)}/expire`, "api_key:update"] as const)
              : (["DELETE", `/users/me/keys/${key.slice(0, 10)}`, "api_key:delete"] as const)
          const own = await reach(key)
          const { status } = await server().call(method, path, { token: key })
          expect([path, status]).toStrictEqual([path, own.has(power) && own.has("/users/me") ? 204 : 404])
        }
      }),
      { numRuns: 8, seed: 7 }
    )
  })
})
