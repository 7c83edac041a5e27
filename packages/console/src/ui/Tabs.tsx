import { Link, type LinkProps } from "@tanstack/react-router"
import type { ReactNode } from "react"
import "./Tabs.css"

export interface Tab {
  readonly label: ReactNode
  readonly link: LinkProps
  readonly count?: number | undefined
  /** Addresses below the tab's own belong to it too. */
  readonly hasParts?: boolean
}

/** Parts of one screen, each with an address of its own. */
export const Tabs = ({ label, tabs }: { readonly tabs: ReadonlyArray<Tab>; readonly label: string }) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map(({ count, hasParts = false, label, link }, index) => (
      <Link key={index} className="tab" activeOptions={{ exact: !hasParts, includeSearch: false }} {...link}>
        {label}
        {count === undefined ? null : <span className="tab-count">{count}</span>}
      </Link>
    ))}
  </nav>
)
