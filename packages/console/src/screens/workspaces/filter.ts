/** What the list of workspaces can be filtered by. */
import * as templates from "@atelier/client/templates"
import * as users from "@atelier/client/users"
import { client } from "../../app/client.js"
import { statusText, workspacesText } from "../../texts/workspaces.js"
import type { FilterKey } from "../../ui/lists/Filter.js"
import type { View } from "../../ui/lists/Views.js"

const truth = ["true", "false"]
const found = 8

const plainKeys: ReadonlyArray<FilterKey> = [
  {
    key: "owner",
    search: async (typed, signal) => [
      "me",
      ...(await users.listUsers(client, { q: typed, limit: found }, { signal })).users.map(({ username }) => username)
    ]
  },
  { key: "status", values: Object.keys(statusText).slice(0, 10) },
  {
    key: "template",
    search: async (_, signal) => (await templates.listTemplates(client, {}, { signal })).map(({ name }) => name)
  },
  { key: "name" },
  { key: "organization" },
  { key: "outdated", values: truth },
  { key: "healthy", values: truth },
  { key: "dormant", values: truth },
  { key: "shared", values: truth },
  { key: "has-agent", values: ["connecting", "connected", "disconnected", "timeout"] },
  { key: "param" },
  { key: "last_used_before" },
  { key: "last_used_after" },
  { key: "shared_with_user", values: ["me"] },
  { key: "shared_with_group" }
]

const hints: Readonly<Record<string, string>> = workspacesText.filterHints
/** What the filter of workspaces knows. */
export const keys = plainKeys.map((each): FilterKey => ({ ...each, hint: hints[each.key] ?? "" }))

const { views } = workspacesText
/** Filters that users ask for most. */
export const chips: ReadonlyArray<View> = [
  { label: views.mine, filter: undefined },
  { label: views.all, filter: "" },
  { label: views.running, filter: "status:running" },
  { label: views.failed, filter: "status:failed" },
  { label: views.outdated, filter: "outdated:true" }
]

/** The filter that no words in the address mean. */
export const mine = "owner:me"
