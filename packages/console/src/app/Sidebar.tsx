/** The sidebar: places, organization, inbox, user. */
import { Link } from "@tanstack/react-router"
import { BookOpen, ChevronsUpDown, ExternalLink, Keyboard, LogOut, Monitor, Moon, PanelLeft, Search, Sun } from "lucide-react"
import { shellText } from "../texts/shell.js"
import { Avatar } from "../ui/Avatar.js"
import { IconButton } from "../ui/Button.js"
import { Keys } from "../ui/Keys.js"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "../ui/Menu.js"
import { Tooltip } from "../ui/Tooltip.js"
import type { Check } from "./session.js"
import type { Destination } from "./area.js"
import { config, isWebAddress } from "./config.js"
import { Inbox } from "./Inbox.js"
import { navigation } from "./navigation.js"
import { chooseOrganization, useAppearance, useBuildInfo, useMay, useMe, useOrganization, useOrganizations } from "./session.js"
import { chooseTheme, type Theme, useTheme } from "./theme.js"

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
          {config.brand.logo === "" ? <Mark /> : <img className="brand-logo" src={config.brand.logo} alt="" />}
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
      <OrganizationSwitch isCollapsed={isCollapsed} />
      <button type="button" className="search-button" onClick={onSearch} aria-label={shellText.search}>
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
                <a key={`${label} ${address}`} className="place" href={address}>
                  {icon === "" ? <ExternalLink aria-hidden /> : <Avatar name={label} src={icon} size={16} isThing />}
                  <span className="sidebar-label truncate">{label}</span>
                </a>
              ))}
          </div>
        )}
      </nav>
      <div className="sidebar-foot">
        <Inbox isCollapsed={isCollapsed} />
        <UserMenu onKeys={onKeys} />
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
  destination: { icon: Icon, keys, label, link },
  isCollapsed
}: {
  readonly destination: Destination
  readonly isCollapsed: boolean
}) => {
  const place = (
    <Link className="place" {...link} activeOptions={{ includeSearch: false }}>
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

const OrganizationSwitch = ({ isCollapsed }: { readonly isCollapsed: boolean }) => {
  const organizations = useOrganizations()
  const chosen = useOrganization()
  if (organizations.length < 2) return null
  const name = chosen === undefined ? shellText.allOrganizations : chosen.display_name || chosen.name
  return (
    <Menu
      align="start"
      label={shellText.organization}
      trigger={
        <button type="button" className="organization" aria-label={`${shellText.organization}: ${name}`}>
          <Avatar name={name} src={chosen?.icon} size={20} isThing />
          <span className="sidebar-label truncate">{name}</span>
          {isCollapsed ? null : <ChevronsUpDown aria-hidden />}
        </button>
      }
    >
      <MenuItem isChecked={chosen === undefined} onSelect={() => chooseOrganization(undefined)}>
        {shellText.allOrganizations}
      </MenuItem>
      <MenuSeparator />
      {organizations.map(({ display_name, icon, id, name }) => (
        <MenuItem
          key={id}
          icon={<Avatar name={display_name || name} src={icon} size={18} isThing />}
          isChecked={chosen?.id === id}
          onSelect={() => chooseOrganization(id)}
        >
          {display_name || name}
        </MenuItem>
      ))}
    </Menu>
  )
}

const themes: ReadonlyArray<readonly [theme: Theme, label: string, icon: typeof Sun]> = [
  ["light", shellText.light, Sun],
  ["dark", shellText.dark, Moon],
  ["system", shellText.system, Monitor]
]

const UserMenu = ({ onKeys }: { readonly onKeys: () => void }) => {
  const { avatar_url, email, name = "", username } = useMe()
  const theme = useTheme()
  const appearance = useAppearance()
  const build = useBuildInfo()
  const documentation = config.documentation !== "" ? config.documentation : (appearance?.docs_url ?? "")
  const links = [
    ...(documentation === "" ? [] : [{ name: shellText.documentation, target: documentation }]),
    ...(appearance?.support_links ?? [])
  ].filter(({ target }) => isWebAddress(target))
  return (
    <Menu
      align="start"
      side="top"
      label={shellText.account}
      trigger={
        <button type="button" className="user" aria-label={shellText.signedInAs(username)}>
          <Avatar name={name || username} src={avatar_url} size={24} />
          <span className="sidebar-label truncate">{name || username}</span>
        </button>
      }
    >
      <MenuLabel>
        <span className="user-name">{name || username}</span>
        <br />
        {email}
      </MenuLabel>
      <MenuSeparator />
      <MenuLabel>{shellText.theme}</MenuLabel>
      {themes.map(([value, label, Icon]) => (
        <MenuItem key={value} icon={<Icon />} isChecked={theme === value} onSelect={() => chooseTheme(value)}>
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      {links.map(({ name, target }) => (
        <MenuItem key={`${name} ${target}`} asChild>
          <a href={target} target="_blank" rel="noreferrer">
            <BookOpen aria-hidden />
            <span className="menu-item-label">{name}</span>
          </a>
        </MenuItem>
      ))}
      <MenuItem icon={<Keyboard />} keys="?" onSelect={onKeys}>
        {shellText.keyboard}
      </MenuItem>
      {config.logout === null ? null : (
        <MenuItem asChild>
          <a href={config.logout}>
            <LogOut aria-hidden />
            <span className="menu-item-label">{shellText.signOut}</span>
          </a>
        </MenuItem>
      )}
      {build === undefined ? null : <MenuLabel>{shellText.version(build.version)}</MenuLabel>}
    </Menu>
  )
}
