import { type Feature } from "@atelier/core/deployment"
import { UserRepository } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { describeInterface, type TestServer, unlicensed } from "../../../../../test/http/server.js"

/** A license as a host may write it: an object with a state of its own, which changes while the service runs. */
class License {
  #features: ReadonlySet<Feature> = new Set()
  #warnings: ReadonlyArray<string> = []
  become(...features: ReadonlyArray<Feature>): void {
    this.#features = new Set(features)
    this.#warnings = features.map((feature) => `${feature} ends soon`)
  }
  has(feature: Feature): boolean {
    return this.#features.has(feature)
  }
  warnings(): ReadonlyArray<string> {
    return this.#warnings
  }
}

const license = new License()

interface Gate {
  readonly features: ReadonlyArray<Feature>
  readonly method: Parameters<TestServer["call"]>[0]
  readonly path: string
  readonly body?: object
  /** What the first user is answered when it is open. */
  readonly open: number
}

const gates: ReadonlyArray<Gate> = [
  { features: ["template_rbac"], method: "GET", path: "/groups", open: 200 },
  { features: ["template_rbac"], method: "GET", path: "/organizations/default/groups", open: 200 },
  { features: ["template_rbac"], method: "GET", path: `/templates/${Uuid.nil}/acl`, open: 404 },
  { features: ["template_rbac", "aibridge"], method: "GET", path: `/groups/${Uuid.nil}/ai/budget`, open: 404 },
  { features: ["aibridge"], method: "GET", path: "/users/me/ai/spend", open: 200 },
  { features: ["aibridge"], method: "GET", path: "/organizations/default/ai/spend/export", open: 200 },
  { features: ["scim"], method: "GET", path: "//scim/v2/Users", open: 200 },
  { features: ["advanced_template_scheduling"], method: "GET", path: "/users/me/quiet-hours", open: 200 },
  { features: ["multiple_organizations"], method: "POST", path: "/organizations", body: {}, open: 400 },
  { features: ["custom_roles"], method: "POST", path: "/organizations/default/members/roles", body: {}, open: 400 },
  {
    features: ["service_accounts"],
    method: "POST",
    path: "/users",
    body: { username: "robot", service_account: true, login_type: "none", organization_ids: [] },
    open: 400
  }
]

describeInterface(
  "what a license opens",
  (server) => {
    it.each(gates)("is open while the license has $features: $method $path", async ({ body, features, method, open, path }) => {
      const caller = path.startsWith("//scim") ? { headers: { authorization: "Bearer key" } } : { token: server().owner().token }
      const answered = async () => (await server().call(method, path, { ...caller, ...(body === undefined ? {} : { body }) })).status
      license.become()
      expect(await answered()).toBe(403)
      license.become(...features)
      expect(await answered()).toBe(open)
      license.become()
      expect(await answered()).toBe(403)
    })

    it("is warned of as the license is now", async () => {
      const { token } = server().owner()
      const warning = async () => (await server().call("GET", "/users/me", { token })).headers.get("x-service-entitlements-warning")
      license.become("scim")
      expect(await warning()).toBe("scim ends soon")
      license.become()
      expect(await warning()).toBeNull()
    })

    it("follows the license as it currently is, with its warnings", async () => {
      license.become("scim", "custom_roles")
      const { body } = await server().call("GET", "/entitlements", { token: server().owner().token })
      expect(body).toMatchObject({
        has_license: true,
        features: { scim: granted, custom_roles: granted, template_rbac: notGranted },
        warnings: ["scim ends soon", "custom_roles ends soon"]
      })
      license.become()
      expect((await entitlementsOf(server())).has_license).toBe(false)
    })

    it("bounds what users may have while groups are licensed", async () => {
      const { token } = server().owner()
      const quota = async () => (await server().call("GET", "/workspace-quota/me", { token })).body
      license.become("template_rbac")
      expect(await quota()).toMatchObject({ budget: 0 })
      license.become()
      expect(await quota()).toMatchObject({ budget: -1 })
    })

    it("keeps roles that follow from claims from being given while they follow", async () => {
      const { token } = server().owner()
      const { user } = await server().aMember({ login_type: "oidc" })
      const give = async () => (await server().call("PUT", `/users/${user.id}/roles`, { token, body: { roles: ["auditor"] } })).status
      license.become("user_role_management")
      expect(await give()).toBe(400)
      license.become()
      expect(await give()).toBe(200)
      const stored = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(user.id))))
      expect(stored.rbac_roles).toStrictEqual(["auditor"])
    })
  },
  {
    entitlements: license,
    options: { scimAuthHeader: Redacted.make("key"), oidcUserRoleField: "roles" }
  }
)

const Entitlements = Schema.Struct({
  features: Schema.Record({ key: Schema.String, value: Schema.Struct({ entitlement: Schema.String, enabled: Schema.Boolean }) }),
  has_license: Schema.Boolean
})

const entitlementsOf = async (server: TestServer) =>
  (await server.call("GET", "/entitlements", { token: server.owner().token })).as(Entitlements)

const granted = { entitlement: "entitled", enabled: true }
const switchedOff = { entitlement: "entitled", enabled: false }
const notGranted = { entitlement: "not_entitled", enabled: false }

describeInterface("a service whose host narrows nothing", (server) => {
  it("grants every feature, and says so of each by name", async () => {
    const answer = await server().call("GET", "/entitlements", { token: (await server().aMember()).token })
    expect(answer.body).toMatchObject({ errors: [], warnings: [], has_license: true, trial: false, require_telemetry: false })
    const { refreshed_at } = answer.as(Schema.Struct({ refreshed_at: Timestamp.Timestamp }))
    expect(Math.abs(Date.parse(refreshed_at) - Date.now())).toBeLessThan(60_000)
    const { features } = answer.as(Entitlements)
    const amounts = ["agent_runtime_hours", "ai_governance_user_limit", "managed_agent_limit", "user_limit"]
    expect(Object.keys(features)).toHaveLength(28)
    for (const [name, state] of Object.entries(features)) {
      expect([name, state]).toStrictEqual([
        name,
        amounts.includes(name) ? notGranted : name.match(/^(scim|browser_only)$/) ? switchedOff : granted
      ])
    }
  })

  it("shows anonymous callers nothing", async () => {
    expect((await server().call("GET", "/entitlements")).status).toBe(401)
  })

  it.each([
    ["GET", "/groups", undefined, 200],
    ["POST", "/organizations", { name: "second" }, 201],
    ["POST", "/organizations/default/members/roles", { name: "reader", organization_permissions: [] }, 200],
    ["GET", "/users/me/quiet-hours", undefined, 200],
    ["POST", "/users", { username: "robot", service_account: true, login_type: "none", organization_ids: [Uuid.nil] }, 201]
  ] as const)("serves what needs a license: %s %s", async (method, path, body, status) => {
    const answer = await server().call(method, path, { token: server().owner().token, ...(body === undefined ? {} : { body }) })
    expect([answer.status, answer.text]).toStrictEqual([status, expect.anything()])
  })
})

describeInterface(
  "a service that is licensed to nothing",
  (server) => {
    it("says so of every feature", async () => {
      const { features, has_license } = await entitlementsOf(server())
      expect(has_license).toBe(false)
      expect(new Set(Object.values(features).map(({ enabled, entitlement }) => `${entitlement} ${enabled}`))).toStrictEqual(
        new Set(["not_entitled false"])
      )
    })
  },
  unlicensed
)
