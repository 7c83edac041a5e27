import type { Organization } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { organizationsText } from "../../texts/people.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { type Tab, Tabs, usePartTitle } from "../../ui/page/Tabs.js"
import { useMay } from "../../app/session.js"
import { organizationQuery } from "./queries.js"

interface Props {
  readonly name: string
  readonly children: (organization: Organization) => ReactNode
}

const crumbs = [{ label: organizationsText.title, link: { to: "/organizations" } as const }]

/** What the screens of an organization share: its name and its parts. */
export const OrganizationFrame = ({ children, name }: Props) => {
  const { data: organization, error, isLoadingError, refetch } = useQuery(organizationQuery(name))
  const id = organization?.id
  const may = useMay({
    update: { on: "organization", to: "update", organization: id },
    sync: { on: "idpsync_settings", to: "read", organization: id }
  })
  const params = { organization: name }
  const tabs: ReadonlyArray<Tab> = [
    { label: organizationsText.tabs.members, link: { to: "/organizations/$organization/members", params } },
    { label: organizationsText.tabs.groups, link: { to: "/organizations/$organization/groups", params } },
    { label: organizationsText.tabs.roles, link: { to: "/organizations/$organization/roles", params } },
    { label: organizationsText.tabs.provisioners, link: { to: "/organizations/$organization/provisioners", params } },
    ...(may.sync ? [{ label: organizationsText.tabs.sync, link: { to: "/organizations/$organization/idp-sync", params } as const }] : []),
    ...(may.update
      ? [{ label: organizationsText.tabs.settings, link: { to: "/organizations/$organization/settings", params } as const }]
      : [])
  ]
  const title = organization?.display_name || name
  const tabTitle = usePartTitle(tabs, title) ?? title
  return (
    <Page width="medium">
      <PageHeader
        crumbs={crumbs}
        icon={
          organization === undefined ? undefined : (
            <Avatar name={organization.display_name || organization.name} src={organization.icon} size={28} isThing />
          )
        }
        title={title}
        tabTitle={tabTitle}
        description={organization?.description || undefined}
      />
      <Tabs label={organizationsText.tabsLabel} tabs={tabs} />
      {organization !== undefined ? (
        children(organization)
      ) : isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <Section>
          <SkeletonLines count={5} />
        </Section>
      )}
    </Page>
  )
}
