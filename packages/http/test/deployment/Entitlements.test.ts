import { defaultOidcSyncOptions, type Feature } from "@atelier/core/deployment"
import { UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../test/server.js"

/** A licence as a host may write it: an object with a state of its own, which changes while the service runs. */
class Licence {
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

const licence = new Licence()

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

describeServer(
  "what a licence opens",
  (server) => {
    it.each(gates)("is open while the licence has $features: $method $path", async ({ body, features, method, open, path }) => {
      const caller = path.startsWith("//scim") ? { headers: { authorization: "Bearer key" } } : { token: server().owner().token }
      const answered = async () => (await server().call(method, path, { ...caller, ...(body === undefined ? {} : { body }) })).status
      licence.become()
      expect(await answered()).toBe(403)
      licence.become(...features)
      expect(await answered()).toBe(open)
      licence.become()
      expect(await answered()).toBe(403)
    })

    it("is warned of as the licence is now", async () => {
      const { token } = server().owner()
      const warning = async () => (await server().call("GET", "/users/me", { token })).headers.get("x-service-entitlements-warning")
      licence.become("scim")
      expect(await warning()).toBe("scim ends soon")
      licence.become()
      expect(await warning()).toBeNull()
    })

    it("bounds what users may have while groups are licensed", async () => {
      const { token } = server().owner()
      const quota = async () => (await server().call("GET", "/workspace-quota/me", { token })).body
      licence.become("template_rbac")
      expect(await quota()).toMatchObject({ budget: 0 })
      licence.become()
      expect(await quota()).toMatchObject({ budget: -1 })
    })

    it("keeps roles that follow from claims from being given while they follow", async () => {
      const { token } = server().owner()
      const { user } = await server().aMember({ login_type: "oidc" })
      const give = async () => (await server().call("PUT", `/users/${user.id}/roles`, { token, body: { roles: ["auditor"] } })).status
      licence.become("user_role_management")
      expect(await give()).toBe(400)
      licence.become()
      expect(await give()).toBe(200)
      const stored = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(user.id))))
      expect(stored.rbac_roles).toStrictEqual(["auditor"])
    })
  },
  {
    entitlements: licence,
    deployment: { scim_api_key: Redacted.make("key"), oidc: { ...defaultOidcSyncOptions, user_role_field: "roles" } }
  }
)
