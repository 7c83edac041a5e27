/** What follows from claims in one organization: groups and roles. */
import type { GroupSyncSettings, Organization, RoleSyncSettings } from "@atelier/client"
import * as idpSync from "@atelier/client/idpSync"
import * as organizationGroups from "@atelier/client/organizationGroups"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { syncText } from "../../texts/sync.js"
import { NoAccess } from "../../ui/page/States.js"
import { Views } from "../../ui/lists/Views.js"
import { OrganizationFrame } from "../people/OrganizationFrame.js"
import { organizationRolesQuery } from "../people/queries.js"
import { type Settings, type SyncKind, SyncSettings } from "./SyncSettings.js"

const route = getRouteApi("/organizations/$organization/idp-sync")

export const OrganizationProviderSync = () => {
  const { organization } = route.useParams()
  return <OrganizationFrame name={organization}>{(known) => <Parts key={known.id} organization={known} />}</OrganizationFrame>
}

interface Props {
  readonly organization: Organization
}

const Parts = ({ organization }: Props) => {
  const { part } = route.useSearch()
  const navigate = useNavigate()
  const on = { on: "idpsync_settings", organization: organization.id }
  const may = useMay({ read: { ...on, to: "read" }, update: { ...on, to: "update" } })
  if (!may.isPending && !may.read) return <NoAccess />
  return (
    <>
      <Views
        views={[
          { label: syncText.parts.groups, filter: undefined },
          { label: syncText.parts.roles, filter: "roles" }
        ]}
        filter={part}
        onChoose={(next) =>
          void navigate({
            to: "/organizations/$organization/idp-sync",
            params: { organization: organization.name },
            search: next === "roles" ? { part: next } : {}
          })
        }
      />
      {part === "roles" ? (
        <Roles organization={organization} mayUpdate={may.update} />
      ) : (
        <Groups organization={organization} mayUpdate={may.update} />
      )}
    </>
  )
}

interface PartProps extends Props {
  readonly mayUpdate: boolean
}

const claimsOf = ({ id }: Organization): Pick<SyncKind, "claims" | "claimValues"> => ({
  claims: (signal) => idpSync.listOrganizationClaims(client, { organization: id }, { signal }),
  claimValues: (claimField, signal) => idpSync.listOrganizationClaimValues(client, { organization: id, claimField }, { signal })
})

const groupSettings = ({
  auto_create_missing_groups,
  field,
  legacy_group_name_mapping,
  mapping,
  regex_filter
}: GroupSyncSettings): Settings => ({
  field,
  mapping,
  filter: regex_filter ?? "",
  isOn: auto_create_missing_groups,
  renamed: legacy_group_name_mapping ?? {}
})

const Groups = ({ mayUpdate, organization }: PartProps) => {
  const { id } = organization
  const { data = [] } = useQuery({
    queryKey: ["groups", "of", id],
    queryFn: ({ signal }) => organizationGroups.listOrganizationGroups(client, { organization: id }, { signal })
  })
  const kind: SyncKind = {
    ...claimsOf(organization),
    texts: syncText.groups,
    queryKey: ["idp-sync", "groups", id],
    read: async (signal) => groupSettings(await idpSync.getGroupSync(client, { organization: id }, signal === undefined ? {} : { signal })),
    configure: ({ field, filter, isOn }) =>
      idpSync.configureGroupSync(client, {
        organization: id,
        body: { field, regex_filter: filter === "" ? null : filter, auto_create_missing_groups: isOn }
      }),
    map: (body) => idpSync.mapGroupSync(client, { organization: id, body }),
    replace: ({ field, filter, isOn, mapping }) =>
      idpSync.updateGroupSync(client, {
        organization: id,
        body: { field, regex_filter: filter === "" ? null : filter, auto_create_missing_groups: isOn, mapping }
      }),
    feature: "template_rbac",
    hasFilter: true,
    switch: { label: syncText.creates, hint: syncText.createsHint },
    followsNames: true,
    always: []
  }
  // The group of all members has the organization's id, and follows from no claim
  const targets = data.flatMap((group) =>
    group.id === id ? [] : [{ value: group.id, name: group.name, label: group.display_name || group.name }]
  )
  return <SyncSettings kind={kind} targets={targets} mayUpdate={mayUpdate} />
}

const roleSettings = ({ field, mapping }: RoleSyncSettings): Settings => ({ field, mapping, filter: "", isOn: false, renamed: {} })

const Roles = ({ mayUpdate, organization }: PartProps) => {
  const { id } = organization
  const { data = [] } = useQuery(organizationRolesQuery(id))
  const kind: SyncKind = {
    ...claimsOf(organization),
    texts: syncText.roles,
    queryKey: ["idp-sync", "roles", id],
    read: async (signal) => roleSettings(await idpSync.getRoleSync(client, { organization: id }, signal === undefined ? {} : { signal })),
    configure: ({ field }) => idpSync.configureRoleSync(client, { organization: id, body: { field } }),
    map: (body) => idpSync.mapRoleSync(client, { organization: id, body }),
    replace: ({ field, mapping }) => idpSync.updateRoleSync(client, { organization: id, body: { field, mapping } }),
    feature: "user_role_management",
    hasFilter: false,
    switch: undefined,
    followsNames: true,
    always: []
  }
  const targets = data.map(({ display_name, name }) => ({ value: name, name, label: display_name || name }))
  return <SyncSettings kind={kind} targets={targets} mayUpdate={mayUpdate} />
}
