import type { ReactNode } from "react"
import { type Check, useMay } from "../../app/session.js"
import { deploymentText } from "../../texts/deployment.js"
import { Page, PageHeader } from "../../ui/Page.js"
import { NoAccess } from "../../ui/States.js"
import { Tabs } from "../../ui/Tabs.js"
import "./deployment.css"

interface Props {
  /** What the screen asks of its user; default to read the deployment's options. */
  readonly needs?: Check
  readonly actions?: ReactNode
  readonly children: ReactNode
}

const { tabs } = deploymentText

const options: Check = { on: "deployment_config", to: "read" }

export const insightsCheck: Check = { on: "template", to: "view_insights" }

export const syncCheck: Check = { on: "idpsync_settings", to: "read" }

/** What the screens of the deployment share: its parts. */
export const DeploymentFrame = ({ actions, children, needs = options }: Props) => {
  const may = useMay({ read: needs, options, insights: insightsCheck, sync: syncCheck })
  const hasOptions = may.isPending || may.options
  return (
    <Page width="medium">
      <PageHeader title={deploymentText.title} actions={actions} />
      <Tabs
        label={deploymentText.tabsLabel}
        tabs={[
          ...(hasOptions
            ? [
                { label: tabs.health, link: { to: "/health" } as const },
                { label: tabs.options, link: { to: "/deployment/options" } as const }
              ]
            : []),
          ...(may.insights ? [{ label: tabs.insights, link: { to: "/deployment/insights" } as const }] : []),
          ...(hasOptions
            ? [
                { label: tabs.appearance, link: { to: "/deployment/appearance" } as const },
                { label: tabs.notifications, link: { to: "/deployment/notifications" } as const },
                { label: tabs.applications, link: { to: "/deployment/oauth2-provider/apps" } as const },
                { label: tabs.proxies, link: { to: "/deployment/workspace-proxies" } as const },
                { label: tabs.licenses, link: { to: "/deployment/licenses" } as const }
              ]
            : []),
          ...(may.sync ? [{ label: tabs.sync, link: { to: "/deployment/idp-org-sync" } as const }] : [])
        ]}
      />
      {may.isPending || may.read ? children : <NoAccess />}
    </Page>
  )
}
