/** Questions that several screens of this area ask. */
import * as members from "@atelier/client/members"
import * as organizations from "@atelier/client/organizations"
import * as users from "@atelier/client/users"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../../app/client.js"

const minute = 60_000

export const siteRolesQuery = queryOptions({
  queryKey: ["roles", "deployment"],
  queryFn: ({ signal }) => users.listSiteRoles(client, { signal }),
  staleTime: minute
})

export const organizationRolesQuery = (organization: string) =>
  queryOptions({
    queryKey: ["roles", "organization", organization],
    queryFn: ({ signal }) => members.listOrganizationRoles(client, { organization }, { signal })
  })

export const organizationQuery = (organization: string) =>
  queryOptions({
    queryKey: ["organizations", organization],
    queryFn: ({ signal }) => organizations.getOrganization(client, { organization }, { signal })
  })

export const userQuery = (user: string) =>
  queryOptions({
    queryKey: ["users", "one", user],
    queryFn: ({ signal }) => users.getUser(client, { user }, { signal })
  })

const found = 8

/** Usernames that begin like a text: what filters complete. */
export const findUsernames = async (typed: string, signal: AbortSignal): Promise<ReadonlyArray<string>> => {
  const { users: matches } = await users.listUsers(client, { q: typed.replaceAll(/["\s]/g, ""), limit: found }, { signal })
  return ["me", ...matches.map(({ username }) => username)]
}

/** Names of organizations. */
export const findOrganizations = async (_: string, signal: AbortSignal): Promise<ReadonlyArray<string>> =>
  (await organizations.listOrganizations(client, { signal })).map(({ name }) => name)
