/** The frame of a screen. */
import { Link, type LinkProps } from "@tanstack/react-router"
import { ChevronRight } from "lucide-react"
import { type ReactNode, useEffect } from "react"
import { config } from "../../app/config.js"
import { pageText } from "../../texts/ui.js"
import "./Page.css"

/** Characters that set the direction of a line: in a title, one could make a name look like another. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Sets the title of the browser's tab, unless it is null. */
export const useTitle = (title: string | null): void => {
  useEffect(() => {
    if (title !== null) document.title = `${title} · ${config.brand.name}`.replace(directions, "")
  }, [title])
}

interface PageProps {
  /** `wide` for lists, `narrow` for forms. */
  readonly width?: "wide" | "medium" | "narrow"
  readonly children: ReactNode
}

export const Page = ({ children, width = "wide" }: PageProps) => <div className={`page page-${width}`}>{children}</div>

export interface Crumb {
  readonly label: ReactNode
  readonly link: LinkProps
}

interface PageHeaderProps {
  readonly title: ReactNode
  /** For the browser's tab, if it differs from the title; null where the content of the screen sets it. */
  readonly tabTitle?: string | null
  readonly icon?: ReactNode
  readonly description?: ReactNode
  readonly crumbs?: ReadonlyArray<Crumb>
  readonly actions?: ReactNode
}

export const PageHeader = ({ actions, crumbs = [], description, icon, tabTitle, title }: PageHeaderProps) => {
  useTitle(tabTitle === undefined ? (typeof title === "string" ? title : "") : tabTitle)
  return (
    <header className="page-header">
      <div className="page-titles">
        {crumbs.length === 0 ? null : (
          <nav className="crumbs" aria-label={pageText.crumbs}>
            {crumbs.map(({ label, link }, index) => (
              <span key={index} className="crumb">
                <Link {...link}>{label}</Link>
                <ChevronRight aria-hidden />
              </span>
            ))}
          </nav>
        )}
        <div className="page-title-line">
          {icon}
          <h1 className="page-title">{title}</h1>
        </div>
        {description === undefined ? null : <div className="page-description">{description}</div>}
      </div>
      {actions === undefined ? null : <div className="page-actions">{actions}</div>}
    </header>
  )
}

interface SectionProps {
  readonly title?: ReactNode
  readonly description?: ReactNode
  readonly actions?: ReactNode
  readonly children?: ReactNode
  /** The content reaches the border of the card. */
  readonly isFlush?: boolean
}

/** A card of a screen. */
export const Section = ({ actions, children, description, isFlush = false, title }: SectionProps) => (
  <section className="section">
    {title === undefined && actions === undefined ? null : (
      <div className="section-head">
        <div className="section-titles">
          <h2 className="section-title">{title}</h2>
          {description === undefined ? null : <p className="section-description">{description}</p>}
        </div>
        {actions}
      </div>
    )}
    {children === undefined ? null : <div className={isFlush ? "section-flush" : "section-body"}>{children}</div>}
  </section>
)

export interface Property {
  readonly label: ReactNode
  readonly value: ReactNode
}

/** Names and values. */
export const PropertyList = ({ properties }: { readonly properties: ReadonlyArray<Property | undefined> }) => (
  <dl className="properties">
    {properties.map((property, index) =>
      property === undefined ? null : (
        <div key={index} className="property">
          <dt>{property.label}</dt>
          <dd>{property.value}</dd>
        </div>
      )
    )}
  </dl>
)
