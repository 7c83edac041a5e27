import type { ReactNode } from "react"
import { useMay } from "../../app/session.js"
import { deploymentText } from "../../texts/deployment.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { NoAccess } from "../../ui/page/States.js"
import { Tabs, usePartTitle } from "../../ui/page/Tabs.js"
import { deploymentParts, partChecks } from "./parts.js"
import "./deployment.css"

interface Props {
  /** What the screen asks of its user; default to read the deployment's options. */
  readonly needs?: keyof typeof partChecks
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** What the screens of the deployment share: its parts. */
export const DeploymentFrame = ({ actions, children, needs: asked = "options" }: Props) => {
  // The same question on all parts: its answer is there when the user goes from one to the other
  const may = useMay(partChecks)
  const title = usePartTitle(deploymentParts, deploymentText.title) ?? deploymentText.title
  return (
    <Page width="medium">
      <PageHeader title={deploymentText.title} tabTitle={title} actions={actions} />
      <Tabs
        label={deploymentText.tabsLabel}
        tabs={deploymentParts.filter(({ needs }) => may[needs] || (may.isPending && needs === asked))}
      />
      {may.isPending || may[asked] ? children : <NoAccess />}
    </Page>
  )
}
