import type { ReactNode } from "react"
import type { Check } from "../../app/check.js"
import { useMay } from "../../app/session.js"
import { deploymentText } from "../../texts/deployment.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { NoAccess } from "../../ui/page/States.js"
import { Tabs } from "../../ui/page/Tabs.js"
import { deploymentParts, optionsCheck, partChecks } from "./parts.js"
import "./deployment.css"

interface Props {
  /** What the screen asks of its user; default to read the deployment's options. */
  readonly needs?: Check
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** What the screens of the deployment share: its parts. */
export const DeploymentFrame = ({ actions, children, needs = optionsCheck }: Props) => {
  const may = useMay({ read: needs, ...partChecks })
  return (
    <Page width="medium">
      <PageHeader title={deploymentText.title} actions={actions} />
      <Tabs
        label={deploymentText.tabsLabel}
        tabs={deploymentParts.filter(({ needs }) => may[needs] || (may.isPending && (needs === "health" || needs === "options")))}
      />
      {may.isPending || may.read ? children : <NoAccess />}
    </Page>
  )
}
