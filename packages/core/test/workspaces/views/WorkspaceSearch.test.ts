import { parseSearch, type WorkspaceFilter } from "@atelier/core/workspaces"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

const unrestricted: WorkspaceFilter = {
  name: undefined,
  ids: undefined,
  status: undefined,
  agent_status: undefined,
  is_dormant: undefined,
  last_used_after: undefined,
  last_used_before: undefined,
  is_outdated: undefined,
  has_task: undefined,
  has_external_agent: undefined,
  is_shared: undefined,
  parameter_names: [],
  parameter_values: []
}
const references = {
  owner: undefined,
  template: undefined,
  organization: undefined,
  shared_with_user: undefined,
  shared_with_group: undefined
}

const faultsOf = (query: string) =>
  Either.match(parseSearch(query), { onLeft: ({ validations = [] }) => validations.map(({ field }) => field), onRight: () => [] })

describe("a search for workspaces", () => {
  it.each<readonly [string, Partial<WorkspaceFilter>]>([
    ["", {}],
    ["Dev Box", { name: "dev box" }],
    ['"foo/bar"', { name: "foo/bar" }],
    ["name:Dev", { name: "dev" }],
    ["status:Running", { status: "running" }],
    ["has-agent:connected,gone has-agent:timeout", { agent_status: ["connected", "timeout"] }],
    ["has-agent:gone", { agent_status: [] }],
    ["healthy:true", { agent_status: ["connected"] }],
    ["healthy:false has-agent:connecting", { agent_status: ["connecting", "disconnected", "timeout"] }],
    ["dormant:true outdated:false shared:t", { is_dormant: true, is_outdated: false, is_shared: true }],
    ["dormant:false", {}],
    ['outdated:"" dormant:""', { is_outdated: true }],
    ["has-ai-task:false has_external_agent:true", { has_task: false, has_external_agent: true }],
    ['last_used_after:"2024-01-01T00:00:00+01:00"', { last_used_after: "2023-12-31T23:00:00.000Z" as never }],
    ["param:region,size=4", { parameter_names: ["region"], parameter_values: [{ name: "size", value: "4" }] }],
    ["param:=x", { parameter_values: [{ name: "", value: "x" }] }],
    ["param:region param:size=4", { parameter_names: ["region"], parameter_values: [{ name: "size", value: "4" }] }]
  ])("reads %s", (query, filter) => {
    expect(Either.getOrThrow(parseSearch(query))).toStrictEqual({ filter: { ...unrestricted, ...filter }, ...references })
  })

  it.each([
    ["owner:Me", { owner: "me" }],
    ["Ada/box", { owner: "ada" }],
    ["/box", {}],
    ["ada/", { owner: "ada", filter: { ...unrestricted, ids: [] } }],
    ["template:Docker organization:Acme", { template: "docker", organization: "acme" }],
    ["shared_with_user:me shared_with_group:acme/devs", { shared_with_user: "me", shared_with_group: "acme/devs" }]
  ])("leaves what %s refers to for the services to find", (query, expected) => {
    expect(Either.getOrThrow(parseSearch(query))).toMatchObject({ ...references, ...expected })
  })

  it.each([
    ["name:a name:b", ["name"]],
    ["name:a b", ["name"]],
    ["a/b/c", ["q"]],
    ["foo:bar", ["foo"]],
    ["status:sleeping", ["status"]],
    ["owner:ada grace/box", ["owner"]],
    ["param:size=", ["param"]],
    ["param:=", ["param"]],
    ["id:,", ["id", "id"]],
    ["param:a=b=c", ["param"]],
    ["id:7 foo:bar outdated:maybe", ["id", "foo", "outdated"]]
  ])("refuses %s, naming %j", (query, fields) => {
    expect(faultsOf(query)).toStrictEqual(fields)
  })
})
