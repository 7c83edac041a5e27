/** The frame around every screen: sidebar, banners, notices. */
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router"
import { Menu as MenuIcon, Search, X } from "lucide-react"
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from "react"
import { shellText } from "../texts/shell.js"
import { IconButton } from "../ui/Button.js"
import { Skeleton } from "../ui/States.js"
import { Banners } from "./Banners.js"
import { config } from "./config.js"
import { connectionState, onConnection } from "./connection.js"
import { useKeys } from "./keys.js"
import { navigation } from "./navigation.js"
import { Sidebar } from "./Sidebar.js"
import { store, stored } from "./stored.js"
import "./Shell.css"

const Palette = lazy(() => import("./Palette.js").then(({ Palette }) => ({ default: Palette })))
const KeyList = lazy(() => import("./KeyList.js").then(({ KeyList }) => ({ default: KeyList })))

const collapsedKey = "atelier-sidebar"

export const Shell = () => {
  const [isCollapsed, setCollapsed] = useState(() => stored(collapsedKey) === "collapsed")
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const [overlay, setOverlay] = useState<"palette" | "keys" | undefined>()
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setDrawerOpen(false), [path])

  const toggleSidebar = (): void => {
    store(collapsedKey, isCollapsed ? "open" : "collapsed")
    setCollapsed(!isCollapsed)
  }
  const places = navigation.flatMap(({ destinations }) =>
    destinations.flatMap(({ keys, link }) => (keys === undefined ? [] : [[keys, () => void navigate(link as never)] as const]))
  )
  useKeys({
    "mod+k": () => setOverlay(overlay === "palette" ? undefined : "palette"),
    "?": () => setOverlay("keys"),
    "[": toggleSidebar,
    ...Object.fromEntries(places)
  })

  return (
    <div className="shell" data-collapsed={isCollapsed || undefined} data-drawer={isDrawerOpen || undefined}>
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("main")?.focus())}>
        {shellText.skip}
      </a>
      <div className="topbar">
        <IconButton
          label={isDrawerOpen ? shellText.close : shellText.open}
          icon={isDrawerOpen ? <X /> : <MenuIcon />}
          onClick={() => setDrawerOpen(!isDrawerOpen)}
        />
        <span className="topbar-name truncate">{config.brand.name}</span>
        <IconButton label={shellText.search} icon={<Search />} onClick={() => setOverlay("palette")} />
      </div>
      <div className="drawer-scrim" onClick={() => setDrawerOpen(false)} aria-hidden />
      <Suspense fallback={<aside className="sidebar" aria-hidden />}>
        <Sidebar
          isCollapsed={isCollapsed}
          onCollapse={toggleSidebar}
          onSearch={() => setOverlay("palette")}
          onKeys={() => setOverlay("keys")}
        />
      </Suspense>
      <div className="content">
        <Banners />
        <ConnectionNotice />
        <main id="main" tabIndex={-1}>
          <Suspense fallback={<ScreenSkeleton />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {overlay === "palette" ? <Palette onClose={() => setOverlay(undefined)} onKeys={() => setOverlay("keys")} /> : null}
        {overlay === "keys" ? <KeyList onClose={() => setOverlay(undefined)} /> : null}
      </Suspense>
    </div>
  )
}

const ScreenSkeleton = () => (
  <div className="page page-wide" aria-hidden>
    <Skeleton width={180} height={20} />
  </div>
)

/** Shown while the server does not answer. The client's streams and queries go on by themselves. */
const ConnectionNotice = () => {
  const state = useSyncExternalStore(onConnection, connectionState)
  if (state === "up") return null
  return (
    <div className="connection" role="status">
      <span className="spinner" aria-hidden />
      {shellText.lost}
    </div>
  )
}
