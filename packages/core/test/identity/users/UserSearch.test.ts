import { parseUserSearch, type UserFilter } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

const unrestricted: UserFilter = {
  search: undefined,
  name: undefined,
  username: undefined,
  email: undefined,
  statuses: undefined,
  roles: undefined,
  login_types: undefined,
  is_service_account: undefined,
  github_com_user_id: undefined,
  last_seen_before: undefined,
  last_seen_after: undefined,
  created_before: undefined,
  created_after: undefined
}

const faultsOf = (query: string) =>
  Either.match(parseUserSearch(query), { onLeft: ({ validations = [] }) => validations.map(({ field }) => field), onRight: () => [] })

describe("a search for users", () => {
  it.each<readonly [string, Partial<UserFilter>]>([
    ["", {}],
    ["Ada  Lovelace", { search: "ada lovelace" }],
    ["search:Ada", { search: "ada" }],
    ['name:"Ada L" username:Ada email:Ada@Example.com', { name: "ada l", username: "ada", email: "ada@example.com" }],
    ["status:active,dormant status:Active", { statuses: ["active", "dormant"] }],
    ["role:owner,auditor", { roles: ["owner", "auditor"] }],
    ["role:member", {}],
    ["role:member,owner", { roles: ["member", "owner"] }],
    ["login_type:github,password login_type:oauth2_provider_app", { login_types: ["github", "password", "oauth2_provider_app"] }],
    ["service_account:false", { is_service_account: false }],
    ["github_com_user_id:42", { github_com_user_id: 42 }],
    ["github_com_user_id:0", {}],
    [
      'created_after:"2024-01-01T00:00:00+01:00" last_seen_before:"0001-01-01T00:00:00Z"',
      { created_after: Timestamp.fromMillis(Date.UTC(2023, 11, 31, 23)), last_seen_before: Timestamp.never }
    ]
  ])("reads %s", (query, filter) => {
    expect(Either.getOrThrow(parseUserSearch(query))).toStrictEqual({ ...unrestricted, ...filter })
  })

  it.each([
    ["foo:bar", ["foo"]],
    ["a:b:c", ["q"]],
    ["status:inactive", ["status"]],
    ["login_type:pigeon", ["login_type"]],
    ["username:a username:b", ["username"]],
    ["service_account:maybe github_com_user_id:many", ["service_account", "github_com_user_id"]],
    ['created_before:"yesterday"', ["created_before"]],
    ["created_before:2024-01-01T00:00:00Z", ["q"]]
  ])("refuses %s, naming %j", (query, fields) => {
    expect(faultsOf(query)).toStrictEqual(fields)
  })
})
