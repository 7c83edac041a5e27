/** Which organizations users are members of by their claims. */
import type { OrganizationSyncSettings } from "@atelier/client"
import * as idpSync from "@atelier/client/idpSync"
import * as organizations from "@atelier/client/organizations"
import { useQuery } from "@tanstack/react-query"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { syncText } from "../../texts/sync.js"
import { DeploymentFrame } from "../deployment/DeploymentFrame.js"
import { syncCheck } from "../deployment/parts.js"
import { type Settings, type SyncKind, SyncSettings } from "./SyncSettings.js"

const settingsOf = ({ field, mapping, organization_assign_default }: OrganizationSyncSettings): Settings => ({
  field,
  mapping,
  filter: "",
  isOn: organization_assign_default,
  renamed: {}
})

export const DeploymentProviderSync = () => {
  const may = useMay({ update: { ...syncCheck, to: "update" } })
  return (
    <DeploymentFrame needs="sync">
      <Memberships mayUpdate={may.update} />
    </DeploymentFrame>
  )
}

const Memberships = ({ mayUpdate }: { readonly mayUpdate: boolean }) => {
  const { data = [] } = useQuery({
    queryKey: ["organizations", "all"],
    queryFn: ({ signal }) => organizations.listOrganizations(client, { signal })
  })
  const kind: SyncKind = {
    texts: syncText.organizations,
    queryKey: ["idp-sync", "organizations"],
    read: async (signal) => settingsOf(await idpSync.getOrganizationSync(client, signal === undefined ? {} : { signal })),
    configure: ({ field, isOn }) => idpSync.configureOrganizationSync(client, { body: { field, assign_default: isOn } }),
    map: (body) => idpSync.mapOrganizationSync(client, { body }),
    replace: ({ field, isOn, mapping }) =>
      idpSync.updateOrganizationSync(client, { body: { field, organization_assign_default: isOn, mapping } }),
    claims: (signal) => idpSync.listClaims(client, { signal }),
    claimValues: (claimField, signal) => idpSync.listClaimValues(client, { claimField }, { signal }),
    feature: "multiple_organizations",
    hasFilter: false,
    switch: { label: syncText.always, hint: syncText.alwaysHint },
    followsNames: false,
    always: data.flatMap(({ id, is_default }) => (is_default ? [id] : []))
  }
  const targets = data.map(({ display_name, id, name }) => ({ value: id, name, label: display_name || name }))
  return <SyncSettings kind={kind} targets={targets} mayUpdate={mayUpdate} />
}
