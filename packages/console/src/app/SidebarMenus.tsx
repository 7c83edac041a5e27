/** The menus of the sidebar, which load after it: organization, inbox, user. */
import { Link } from "@tanstack/react-router"
import { BookOpen, ChevronsUpDown, Info, Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react"
import { shellText } from "../texts/shell.js"
import { Avatar } from "../ui/page/Avatar.js"
import { Menu, MenuChoice, MenuChoices, MenuItem, MenuLabel, MenuSeparator } from "../ui/floating/Menu.js"
import { config, isWebAddress } from "./config.js"
import { chooseOrganization, useAppearance, useBuildInfo, useMe, useOrganization, useOrganizations } from "./session.js"
import { signOut } from "./signOut.js"
import { chooseTheme, type Theme, useTheme } from "./theme.js"

export { Inbox } from "./Inbox.js"

export const OrganizationSwitch = ({ isCollapsed }: { readonly isCollapsed: boolean }) => {
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
      <MenuChoices
        label={shellText.organization}
        value={chosen?.id ?? ""}
        onChoose={(id) => chooseOrganization(id === "" ? undefined : id)}
      >
        <MenuChoice value="">{shellText.allOrganizations}</MenuChoice>
        <MenuSeparator />
        {organizations.map(({ display_name, icon, id, name }) => (
          <MenuChoice key={id} value={id} icon={<Avatar name={display_name || name} src={icon} size={18} isThing />}>
            {display_name || name}
          </MenuChoice>
        ))}
      </MenuChoices>
    </Menu>
  )
}

const themes: ReadonlyArray<readonly [theme: Theme, label: string, icon: typeof Sun]> = [
  ["light", shellText.light, Sun],
  ["dark", shellText.dark, Moon],
  ["system", shellText.system, Monitor]
]

export const UserMenu = ({ onKeys }: { readonly onKeys: () => void }) => {
  const { avatar_url, email, id, name = "", username } = useMe()
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
        <button type="button" className="user">
          <span className="visually-hidden">{shellText.signedInAs(username)}</span>
          <Avatar name={username} src={avatar_url} size={24} />
          <span className="sidebar-label truncate" aria-hidden>
            {name || username}
          </span>
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
      <MenuChoices
        label={shellText.theme}
        value={theme}
        onChoose={(value) => {
          const [chosen] = themes.find(([each]) => each === value) ?? []
          if (chosen !== undefined) chooseTheme(chosen)
        }}
      >
        {themes.map(([value, label, Icon]) => (
          <MenuChoice key={value} value={value} icon={<Icon />}>
            {label}
          </MenuChoice>
        ))}
      </MenuChoices>
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
          <a
            href={config.logout}
            onClick={(event) => {
              event.preventDefault()
              void signOut(id)
            }}
          >
            <LogOut aria-hidden />
            <span className="menu-item-label">{shellText.signOut}</span>
          </a>
        </MenuItem>
      )}
      <MenuItem asChild>
        <Link to="/about">
          <Info aria-hidden />
          <span className="menu-item-label">
            {shellText.about}
            {build === undefined ? null : <span className="menu-item-hint">{shellText.version(build.version)}</span>}
          </span>
        </Link>
      </MenuItem>
    </Menu>
  )
}
