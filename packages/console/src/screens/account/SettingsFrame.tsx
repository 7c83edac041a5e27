import type { ReactNode } from "react"
import { accountText } from "../../texts/account.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { Tabs } from "../../ui/page/Tabs.js"
import { accountPlaces } from "./places.js"
import "./account.css"

interface Props {
  /** The part of the settings, for the browser's tab. */
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of a part of the settings. */
export const SettingsFrame = ({ actions, children, title }: Props) => (
  <Page width="medium">
    <PageHeader title={accountText.title} tabTitle={`${title} · ${accountText.title}`} actions={actions} />
    <Tabs label={accountText.tabs} tabs={accountPlaces} />
    {children}
  </Page>
)
