/** The sidebar: places, organization, inbox, user. */
import { Link, useLocation } from "@tanstack/react-router"
import { ExternalLink, PanelLeft, Search } from "lucide-react"
import { Suspense, useState } from "react"
import { shellText } from "../texts/shell.js"
import { IconButton } from "../ui/forms/Button.js"
import { Keys } from "../ui/page/Keys.js"
import { Tooltip } from "../ui/floating/Tooltip.js"
import type { Destination } from "./area.js"
import type { Check } from "./check.js"
import { config, isWebAddress } from "./config.js"
import { lazyPart } from "./lazy.js"
import { navigation } from "./navigation.js"
import { useMay } from "./session.js"

const OrganizationSwitch = lazyPart(() => import("./SidebarMenus.js").then(({ OrganizationSwitch }) => OrganizationSwitch))
const Inbox = lazyPart(() => import("./SidebarMenus.js").then(({ Inbox }) => Inbox))
const UserMenu = lazyPart(() => import("./SidebarMenus.js").then(({ UserMenu }) => UserMenu))

interface Props {
  readonly isCollapsed: boolean
  readonly onCollapse: () => void
  readonly onSearch: () => void
  readonly onKeys: () => void
}

/** Asks for all of the sidebar at once. */
const checks: Readonly<Record<string, Check>> = Object.fromEntries(
  navigation.flatMap(({ destinations }) => destinations.flatMap(({ label, needs }) => (needs === undefined ? [] : [[label, needs]])))
)

/** The deployment's logo, or the mark in place of one that does not load. */
const Logo = () => {
  const [isLost, setIsLost] = useState(false)
  return config.brand.logo === "" || isLost ? (
    <Mark />
  ) : (
    <img className="brand-logo" src={config.brand.logo} alt="" onError={() => setIsLost(true)} />
  )
}

const isElsewhere = (address: string): boolean => new URL(address, document.baseURI).origin !== location.origin

export const Sidebar = ({ isCollapsed, onCollapse, onKeys, onSearch }: Props) => {
  const may = useMay(checks)
  const groups = navigation
    .map(({ destinations, label }) => ({
      label,
      shown: destinations.filter(({ label, needs }) => needs === undefined || may[label] === true)
    }))
    .filter(({ shown }) => shown.length > 0)
  return (
    <aside className="sidebar">
      <div className="sidebar-head">
        <Link to="/workspaces" className="brand" aria-label={config.brand.name}>
          <Logo />
          <span className="brand-name truncate">{config.brand.name}</span>
        </Link>
        <IconButton
          size="small"
          className="sidebar-collapse"
          label={isCollapsed ? shellText.expand : shellText.collapse}
          keys="["
          icon={<PanelLeft />}
          onClick={onCollapse}
        />
      </div>
      <Suspense>
        <OrganizationSwitch isCollapsed={isCollapsed} />
      </Suspense>
      <button type="button" className="search-button" onClick={onSearch} aria-label={isCollapsed ? shellText.search : undefined}>
        <Search aria-hidden />
        <span className="sidebar-label truncate">{shellText.search}</span>
        <Keys keys="mod+k" />
      </button>
      <nav className="places" aria-label={shellText.navigation}>
        {groups.map(({ label, shown }, index) => (
          <div key={label ?? index} className="place-group">
            {label === undefined ? null : <div className="place-heading">{label}</div>}
            {shown.map((destination) => (
              <Place key={destination.label} destination={destination} isCollapsed={isCollapsed} />
            ))}
          </div>
        ))}
        {config.navigation.length === 0 ? null : (
          <div className="place-group">
            {config.navigation
              .filter(({ address }) => isWebAddress(address))
              .map(({ address, icon, label }) => (
                <a
                  key={`${label} ${address}`}
                  className="place"
                  href={address}
                  {...(isElsewhere(address) ? { target: "_blank", rel: "noreferrer" } : {})}
                >
                  {icon === "" ? <ExternalLink aria-hidden /> : <img src={icon} alt="" width={16} height={16} />}
                  <span className="sidebar-label truncate">{label}</span>
                </a>
              ))}
          </div>
        )}
      </nav>
      <div className="sidebar-foot">
        <Suspense>
          <Inbox isCollapsed={isCollapsed} />
          <UserMenu onKeys={onKeys} />
        </Suspense>
      </div>
    </aside>
  )
}

/** The product's sign, in the colour of the theme. */
const Mark = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden>
    <rect width="32" height="32" rx="8" fill="var(--accent)" />
    <path d="M8.500 23 15 8.600a1.100 1.100 0 0 1 2 0L23.500 23" fill="none" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    <circle cx="16" cy="20.500" r="2.200" fill="#fff" />
  </svg>
)

const Place = ({
  destination: { icon: Icon, isAt, keys, label, link },
  isCollapsed
}: {
  readonly destination: Destination
  readonly isCollapsed: boolean
}) => {
  const isHere = useLocation({ select: ({ pathname }) => isAt?.(pathname) })
  const place = (
    <Link
      className="place"
      {...link}
      activeOptions={{ includeSearch: false, exact: isAt !== undefined }}
      {...(isHere === true ? { "data-status": "active", "aria-current": "page" } : {})}
    >
      <Icon aria-hidden />
      <span className="sidebar-label truncate">{label}</span>
    </Link>
  )
  return isCollapsed ? (
    <Tooltip label={label} keys={keys} side="right">
      {place}
    </Tooltip>
  ) : (
    place
  )
}
