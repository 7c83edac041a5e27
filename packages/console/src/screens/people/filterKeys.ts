/** What lists of users are filtered by. docs/identity.md, "Finding users". */
import * as users from "@atelier/client/users"
import { client } from "../../app/client.js"
import { userKeyText } from "../../texts/people.js"
import type { FilterKey } from "../../ui/lists/Filter.js"

export const userKeys: ReadonlyArray<FilterKey> = [
  { key: "status", hint: userKeyText.status, values: ["active", "dormant", "suspended"] },
  {
    key: "role",
    hint: userKeyText.role,
    search: async (_, signal) => (await users.listSiteRoles(client, { signal })).map(({ name }) => name)
  },
  { key: "login_type", hint: userKeyText.login_type, values: ["password", "oidc", "github", "token", "none"] },
  { key: "service_account", hint: userKeyText.service_account, values: ["true", "false"] },
  { key: "username", hint: userKeyText.username },
  { key: "email", hint: userKeyText.email },
  { key: "last_seen_before", hint: userKeyText.time },
  { key: "last_seen_after", hint: userKeyText.time },
  { key: "created_before", hint: userKeyText.time },
  { key: "created_after", hint: userKeyText.time }
]
