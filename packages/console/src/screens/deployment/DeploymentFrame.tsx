import type { ReactNode } from "react"
import { useMay } from "../../app/session.js"
import { deploymentText } from "../../texts/deployment.js"
import { Page, PageHeader } from "../../ui/Page.js"
import { NoAccess } from "../../ui/States.js"
import { Tabs } from "../../ui/Tabs.js"
import "./deployment.css"

interface Props {
  readonly actions?: ReactNode
  readonly children: ReactNode
}

const { tabs } = deploymentText

/** What the screens of the deployment share: its parts. */
export const DeploymentFrame = ({ actions, children }: Props) => {
  const may = useMay({ read: { on: "deployment_config", to: "read" } })
  return (
    <Page width="medium">
      <PageHeader title={deploymentText.title} actions={actions} />
      <Tabs
        label={deploymentText.tabsLabel}
        tabs={[
          { label: tabs.health, link: { to: "/health" } },
          { label: tabs.options, link: { to: "/deployment/options" } },
          { label: tabs.appearance, link: { to: "/deployment/appearance" } },
          { label: tabs.notifications, link: { to: "/deployment/notifications" } },
          { label: tabs.applications, link: { to: "/deployment/oauth2-provider/apps" } },
          { label: tabs.proxies, link: { to: "/deployment/workspace-proxies" } },
          { label: tabs.licenses, link: { to: "/deployment/licenses" } }
        ]}
      />
      {may.isPending || may.read ? children : <NoAccess />}
    </Page>
  )
}
