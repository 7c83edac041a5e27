import { Page, PageHeader } from "../../ui/Page.js"
import { workspacesText } from "../../texts/workspaces.js"

export const WorkspaceList = () => (
  <Page>
    <PageHeader title={workspacesText.title} />
  </Page>
)
