import { type AllowList, externalScopes, normalizeAllowList, scopeGrants, unrestrictedAllowList } from "@atelier/core/access"
import { excess } from "@atelier/core/identity"
import { describe, expect, it } from "vitest"

const a = "0d4e1d3c-0000-7000-8000-000000000001"
const b = "0d4e1d3c-0000-7000-8000-000000000002"

const credential = (scopes: ReadonlyArray<string>, allowList: AllowList = unrestrictedAllowList) => ({
  scope: scopes.flatMap((scope) => scopeGrants(scope) ?? []),
  allowList
})

const fields = (own: ReturnType<typeof credential>, scopes: ReadonlyArray<string>, allowList: AllowList = unrestrictedAllowList) =>
  excess(own, scopes, normalizeAllowList(allowList)).map(({ field }) => field)

describe("a credential", () => {
  it("with every scope hands on any scope and any list", () => {
    expect(fields(credential(["coder:all"]), externalScopes, [{ type: "workspace", id: a }])).toStrictEqual([])
  })

  it("hands on its own scopes and parts of them", () => {
    const own = credential(["coder:workspaces.create", "api_key:*"])
    expect(fields(own, ["workspace:read", "template:use", "api_key:create", "coder:workspaces.operate", "api_key:*"])).toStrictEqual([])
  })

  it.each([["coder:all"], ["workspace:delete"], ["workspace:*"], ["user:read"], ["coder:workspaces.delete"]])(
    "does not hand on %s which it lacks",
    (scope) => {
      expect(fields(credential(["coder:workspaces.create"]), ["workspace:read", scope])).toStrictEqual(["scopes"])
    }
  )

  it("with every action of a type may not pass on the wildcard", () => {
    const own = credential(["user_secret:create", "user_secret:delete", "user_secret:read", "user_secret:update"])
    expect(fields(own, ["user_secret:*"])).toStrictEqual(["scopes"])
  })

  it.each<[string, AllowList, AllowList, ReadonlyArray<string>]>([
    ["an object of it", [{ type: "workspace", id: a }], [{ type: "workspace", id: a }], []],
    ["an object of a type of it", [{ type: "workspace", id: "*" }], [{ type: "workspace", id: b }], []],
    ["an object of any type", [{ type: "*", id: a }], [{ type: "template", id: a }], []],
    ["not another object", [{ type: "workspace", id: a }], [{ type: "workspace", id: b }], ["allow_list"]],
    ["not the whole type", [{ type: "workspace", id: a }], [{ type: "workspace", id: "*" }], ["allow_list"]],
    ["not the object in other types", [{ type: "workspace", id: a }], [{ type: "*", id: a }], ["allow_list"]],
    ["not everything", [{ type: "workspace", id: "*" }], unrestrictedAllowList, ["allow_list"]]
  ])("with an allow list hands on %s", (_, own, wanted, expected) => {
    expect(fields(credential(["coder:all"], own), ["coder:all"], wanted)).toStrictEqual(expected)
  })
})
