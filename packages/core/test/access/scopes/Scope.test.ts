import { describe, expect, it } from "vitest"
import {
  canonicalScope,
  coversScope,
  decide,
  expandAppScopes,
  expandScopes,
  externalScopes,
  isExternalScope,
  legacyScope,
  resourceActions,
  resourceTypes,
  scopeGrants
} from "../../../src/access/index.js"
import { matrixSubject } from "../roles/subjects.js"

describe("scopes", () => {
  it("that keys can ask for are 55, sorted, without aliases and internal ones", () => {
    expect(externalScopes).toHaveLength(55)
    expect(externalScopes).toEqual(externalScopes.toSorted())
    expect(externalScopes).toContain("coder:workspaces.access")
    expect(externalScopes).toContain("task:*")
    for (const name of ["all", "application_connect", "user:update", "organization:create", "no_user_data", "debug_info:read"]) {
      expect(externalScopes).not.toContain(name)
    }
  })

  it("are accepted by either spelling and kept in one", () => {
    expect(isExternalScope("all")).toBe(true)
    expect(isExternalScope("application_connect")).toBe(true)
    expect(isExternalScope("no_user_data")).toBe(false)
    expect(isExternalScope("debug_info:read")).toBe(false)
    expect(canonicalScope("all")).toBe("coder:all")
    expect(canonicalScope("application_connect")).toBe("coder:application_connect")
    expect(canonicalScope("workspace:read")).toBe("workspace:read")
  })

  it("grant what their names say", () => {
    expect(scopeGrants("all")).toEqual({ "*": ["*"] })
    expect(scopeGrants("workspace:*")).toEqual({ workspace: ["*"] })
    expect(scopeGrants("debug_info:read")).toEqual({ debug_info: ["read"] })
    expect(scopeGrants("coder:workspaces.create")).toEqual({
      organization_member: ["read"],
      template: ["read", "use"],
      workspace: ["create", "read", "start", "stop", "update"]
    })
    expect(scopeGrants("coder:templates.author")).toEqual({
      file: ["create", "read"],
      template: ["create", "delete", "read", "update", "view_insights"]
    })
  })

  it.each([
    "",
    "*",
    "*:*",
    "*:read",
    "workspace",
    "workspace:",
    "workspace:fly",
    "template:ssh",
    "nothing:read",
    "workspace:read:x",
    "__proto__:*"
  ])("named %j grant nothing", (name) => {
    expect(scopeGrants(name)).toBeUndefined()
    expect(expandScopes([name])).toEqual([])
  })

  it("of keys and of single actions all grant something", () => {
    const pairs = resourceTypes.flatMap((type) => ["*", ...resourceActions[type]].map((action) => `${type}:${action}`))
    expect([...externalScopes, ...pairs].filter((name) => scopeGrants(name) === undefined)).toEqual([])
  })

  it("without user data cover everything but users", () => {
    const subject = matrixSubject({ roles: ["owner"], scopes: ["no_user_data"] })
    expect(decide(subject, "read_personal", { type: "user", id: "u2", owner: "u2" })).toBe(false)
    expect(decide(subject, "read", { type: "workspace", id: "w", org: "org1" })).toBe(true)
  })

  it("that are unknown cover nothing", () => {
    expect(decide(matrixSubject({ roles: ["owner"], scopes: [] }), "read", { type: "workspace" })).toBe(false)
  })

  it("show as the one deprecated scope where they contain it", () => {
    expect(legacyScope(["coder:all"])).toBe("all")
    expect(legacyScope(["coder:all", "coder:application_connect"])).toBe("application_connect")
    expect(legacyScope(["workspace:read"])).toBe("")
  })
})

describe("the coverage of a scope", () => {
  it("is decided by what the scopes grant together, not by their names", () => {
    const granted = expandScopes(["coder:workspaces.access", "workspace:delete"])
    const covered = ["workspace:ssh", "workspace:delete", "template:read", "coder:workspaces.delete", "workspace:*", "coder:all", "nothing"]
    expect(covered.filter((name) => coversScope(granted, name))).toStrictEqual(["workspace:ssh", "workspace:delete", "template:read"])
    expect(coversScope(expandScopes(["coder:all"]), "coder:workspaces.create")).toBe(true)
    expect(coversScope(expandAppScopes(["coder:all"]), "coder:workspaces.create")).toBe(true)
  })
})
