/** Who is signed in, and what they may do. */
import * as access from "@atelier/client/access"
import * as appearance from "@atelier/client/appearance"
import * as deployment from "@atelier/client/deployment"
import type { AppearanceConfig, BuildInfoResponse, Organization, User } from "@atelier/client"
import * as users from "@atelier/client/users"
import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"
import type { Check } from "./check.js"
import { client } from "./client.js"
import { noteSession } from "./sessionEnd.js"
import { store, stored } from "./stored.js"

const minute = 60_000

const meKey = ["me"]

export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: async ({ client: cache, signal }) => {
    const me = await users.getUser(client, { user: "me" }, { signal })
    const before = cache.getQueryData<User>(meKey)
    // Another user has signed in meanwhile, in another window
    if (before !== undefined && before.id !== me.id) location.reload()
    noteSession()
    return me
  },
  staleTime: 5 * minute,
  refetchOnWindowFocus: "always"
})

export const organizationsQuery = queryOptions({
  queryKey: ["me", "organizations"],
  queryFn: ({ signal }) => users.listUserOrganizations(client, { user: "me" }, { signal }),
  staleTime: 5 * minute
})

export const appearanceQuery = queryOptions({
  queryKey: ["appearance"],
  queryFn: ({ signal }) => appearance.getAppearance(client, { signal }),
  staleTime: 5 * minute,
  refetchInterval: 5 * minute
})

export const buildInfoQuery = queryOptions({
  queryKey: ["build-info"],
  queryFn: ({ signal }) => deployment.buildInfo(client, { signal }),
  staleTime: Infinity
})

/** The signed-in user. */
export const useMe = (): User => useSuspenseQuery(meQuery).data

/** The organizations of the signed-in user. */
export const useOrganizations = (): ReadonlyArray<Organization> => useSuspenseQuery(organizationsQuery).data

export const useAppearance = (): AppearanceConfig | undefined => useQuery(appearanceQuery).data

export const useBuildInfo = (): BuildInfoResponse | undefined => useQuery(buildInfoQuery).data

export type May<Name extends string> = Readonly<Record<Name, boolean>> & { readonly isPending: boolean }

/**
 * Asks the server what the user may do, once a minute: `const may = useMay({ create: { on: "template", to: "create", anyOrganization: true } })`, then
 * `may.create`. Everything is refused until the answer is there.
 */
export const useMay = <const Name extends string>(checks: Readonly<Record<Name, Check>>): May<Name> => {
  const { data, isPending } = useQuery({
    queryKey: ["may", checks],
    queryFn: ({ signal }) => {
      const asked = Object.entries<Check>(checks).map(([name, { anyOrganization, id, on, organization, owner, to }]) => [
        name,
        {
          action: to,
          object: { resource_type: on, owner_id: owner, organization_id: organization, resource_id: id, any_org: anyOrganization }
        }
      ])
      return access.checkAuthorization(client, { body: { checks: Object.fromEntries(asked) } }, { signal })
    },
    staleTime: minute
  })
  const granted = Object.fromEntries(Object.keys(checks).map((name) => [name, data?.[name] === true]))
  // One entry for each name
  return { ...(granted as Record<Name, boolean>), isPending }
}

const organizationKey = "atelier-organization"
const organizationListeners = new Set<() => void>()

/** The organization that the user looks at; undefined for all of them. */
export const useOrganization = (): Organization | undefined => {
  const organizations = useOrganizations()
  const chosen = useSyncExternalStore(
    (listener) => {
      organizationListeners.add(listener)
      return () => organizationListeners.delete(listener)
    },
    () => stored(organizationKey)
  )
  return organizations.find(({ id }) => id === chosen)
}

export const chooseOrganization = (id: string | undefined): void => {
  store(organizationKey, id)
  for (const listener of organizationListeners) listener()
}
