import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  Access,
  AccessObjects,
  allScope,
  buildSubject,
  decide,
  defaultAppScopes,
  expandAppScopes,
  externalScopes,
  isEntrusted,
  resourceActions,
  resourceTypes,
  scopeGrants,
  unrestrictedAllowList
} from "../../../src/access/index.js"
import { nil } from "../../../src/platform/texts/Uuid.js"

const ownerWith = (scopes: ReadonlyArray<string>, isApp: boolean) =>
  buildSubject({ userId: "u1", siteRoles: ["owner"], memberships: [], scopes, allowList: unrestrictedAllowList, isApp })

const everyPair = resourceTypes.flatMap((type) => resourceActions[type].map((action) => ({ type, action })))

describe("a token of an app", () => {
  it("does everything but what gives credentials or rights with the scope for everything", () => {
    const [person, app] = [ownerWith([allScope], false), ownerWith([allScope], true)]
    for (const { action, type } of everyPair) {
      const object = { type, id: "1", owner: "u1" }
      expect([type, action, decide(app, action, object)]).toStrictEqual([
        type,
        action,
        decide(person, action, object) && !isEntrusted(action, type)
      ])
    }
    expect(everyPair.filter(({ action, type }) => isEntrusted(action, type))).toContainEqual({ type: "user", action: "create" })
    // The code of a template gets the session of each workspace's owner
    for (const action of ["create", "update"] as const) expect(decide(app, action, { type: "template", id: "1" })).toBe(false)
  })

  it("gives what one of its scopes names", () => {
    const app = ownerWith([allScope, "api_key:create", "coder:workspaces.operate"], true)
    expect(decide(app, "create", { type: "api_key", owner: "u1" })).toBe(true)
    expect(decide(app, "update", { type: "api_key", owner: "u1" })).toBe(false)
    expect(decide(ownerWith(["all"], true), "create", { type: "api_key", owner: "u1" })).toBe(false)
  })

  it("reads, and nothing else, with the default scopes", () => {
    const actions = expandAppScopes(defaultAppScopes).flatMap((grants) => Object.values(grants).flat())
    expect(new Set(actions)).toStrictEqual(new Set(["read"]))
    for (const scope of defaultAppScopes) expect(externalScopes).toContain(scope)
  })

  it("keeps what every other requestable scope means", () => {
    for (const scope of externalScopes.filter((name) => name !== allScope))
      expect(expandAppScopes([scope])).toStrictEqual([scopeGrants(scope)])
  })

  it.effect("tells its user to sign in for the rest", () =>
    Effect.gen(function* () {
      const refused = Effect.flip(Access.authorize("create", AccessObjects.bare("workspace_proxy")))
      const app = yield* Access.actingAs({ subject: ownerWith([allScope], true), userId: nil, isApp: true })(refused)
      expect(app.message).toContain("Sign in")
      const narrow = yield* Access.actingAs({ subject: ownerWith([], true), userId: nil })(refused)
      expect(narrow.message).not.toContain("Sign in")
    })
  )
})
