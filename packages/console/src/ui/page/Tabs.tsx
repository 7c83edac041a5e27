import { Link, type LinkProps, useRouter, useRouterState } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import "./Tabs.css"

export interface Tab {
  readonly label: ReactNode
  readonly link: LinkProps
  readonly count?: number | undefined
  /** Addresses below the tab's own belong to it too. */
  readonly hasParts?: boolean
  /** It stands for the whole screen. */
  readonly isOverview?: boolean
}

/** Pixels of the neighbour that stay in sight beside the current tab. */
const margin = 32

/** Fades the ends behind which further tabs are. */
const markEnds = (bar: HTMLElement): void => {
  const { clientWidth, scrollLeft, scrollWidth } = bar
  bar.toggleAttribute("data-before", scrollLeft > 1)
  bar.toggleAttribute("data-after", scrollLeft + clientWidth < scrollWidth - 1)
}

/** Scrolls a bar that is too narrow for its tabs to the current one. */
const showCurrent = (bar: HTMLElement): void => {
  const current = bar.querySelector<HTMLElement>('[aria-current="page"]')
  if (current !== null) {
    const start = current.offsetLeft - bar.offsetLeft
    const end = start + current.offsetWidth
    if (start - margin < bar.scrollLeft) bar.scrollLeft = start - margin
    else if (end + margin > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = end + margin - bar.clientWidth
  }
  markEnds(bar)
}

const useShownPath = () => useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })

/** The title of the browser's tab: the part that is shown, and the screen that it belongs to; null at addresses below those of the parts. */
export const usePartTitle = (parts: ReadonlyArray<Tab>, title: string): string | null => {
  const router = useRouter()
  const path = useShownPath()
  const part = parts.find(({ link }) => router.buildLocation(link as never).pathname === path)
  if (typeof part?.label !== "string") return null
  return part.isOverview === true ? title : `${part.label} · ${title}`
}

/** Parts of one screen, each with an address of its own. */
export const Tabs = ({ label, tabs }: { readonly tabs: ReadonlyArray<Tab>; readonly label: string }) => {
  const bar = useRef<HTMLElement>(null)
  const path = useShownPath()
  const count = tabs.length
  useEffect(() => {
    if (bar.current !== null) showCurrent(bar.current)
  }, [path, count])
  useEffect(() => {
    const element = bar.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => showCurrent(element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <nav ref={bar} className="tabs" aria-label={label} onScroll={({ currentTarget }) => markEnds(currentTarget)}>
      {tabs.map(({ count: badge, hasParts = false, label: name, link }, index) => (
        <Link key={index} className="tab" activeOptions={{ exact: !hasParts, includeSearch: false }} {...link}>
          {name}
          {badge === undefined ? null : <span className="tab-count">{badge}</span>}
        </Link>
      ))}
    </nav>
  )
}
