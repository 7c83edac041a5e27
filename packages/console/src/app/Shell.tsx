/** The frame around every screen: sidebar, banners, notices. */
import { useQuery } from "@tanstack/react-query"
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router"
import { Menu as MenuIcon, Search, X } from "lucide-react"
import { Suspense, useEffect, useState, useSyncExternalStore } from "react"
import { shellText } from "../texts/shell.js"
import { errorText } from "../texts/ui.js"
import { Button, IconButton } from "../ui/forms/Button.js"
import { Skeleton } from "../ui/page/States.js"
import { Banners } from "./Banners.js"
import { config } from "./config.js"
import { connectionState, onConnection } from "./connection.js"
import { useKeys } from "./keys.js"
import { arePartsLost, lazyPart, onPartsLost } from "./lazy.js"
import { navigation } from "./navigation.js"
import { reloadOnce } from "./reload.js"
import { meQuery } from "./session.js"
import { isSessionOver, onSessionOver, signInAddress } from "./sessionEnd.js"
import { Sidebar } from "./Sidebar.js"
import { store, stored } from "./stored.js"
import "./Shell.css"

const Palette = lazyPart(() => import("./Palette.js").then(({ Palette }) => Palette))
const KeyList = lazyPart(() => import("./KeyList.js").then(({ KeyList }) => KeyList))

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
        <SessionNotice />
        <PartsNotice />
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

const askAgain = 5_000

/** Shown if the session has ended and the page stays because of what was typed. It goes when the user has signed in again. */
const SessionNotice = () => {
  const isOver = useSyncExternalStore(onSessionOver, isSessionOver)
  useQuery({ ...meQuery, refetchInterval: isOver ? askAgain : false })
  if (!isOver) return null
  return (
    <div className="connection" role="alert">
      {shellText.sessionOver}
      <a className="link" href={signInAddress()?.href} target="_blank" rel="noreferrer">
        {shellText.signIn}
      </a>
    </div>
  )
}

/** Shown if parts of the page are lost with the server's earlier version, and the page stays because of what was typed. */
const PartsNotice = () => {
  const areLost = useSyncExternalStore(onPartsLost, arePartsLost)
  useEffect(() => {
    if (areLost) reloadOnce()
  }, [areLost])
  if (!areLost) return null
  return (
    <div className="connection" role="alert">
      {shellText.partsLost}
      <Button size="small" onClick={() => location.reload()}>
        {errorText.reload}
      </Button>
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
