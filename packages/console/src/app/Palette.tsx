/** The command palette: every place and action, by typing. */
import { useNavigate } from "@tanstack/react-router"
import { Command } from "cmdk"
import { Dialog } from "radix-ui"
import { Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react"
import { useState } from "react"
import { keysText, paletteText, shellText } from "../texts/shell.js"
import { Keys } from "../ui/page/Keys.js"
import type { Command as Offered } from "./area.js"
import { useAreaCommands } from "./commands.js"
import { config } from "./config.js"
import { navigation } from "./navigation.js"
import { useMay, useMe } from "./session.js"
import { signOut } from "./signOut.js"
import { chooseTheme } from "./theme.js"
import "./Palette.css"

interface Props {
  readonly onClose: () => void
  readonly onKeys: () => void
}

const destinations = navigation.flatMap((group) => group.destinations)
const checks = Object.fromEntries(destinations.flatMap(({ label, needs }) => (needs === undefined ? [] : [[label, needs]])))

export const Palette = ({ onClose, onKeys }: Props) => {
  const [typed, setTyped] = useState("")
  const navigate = useNavigate()
  const { id } = useMe()
  const may = useMay(checks)
  const { do: actions, go, theme } = paletteText.groups
  const places = destinations
    .filter(({ label, needs }) => needs === undefined || may[label] === true)
    .map(({ icon, keys, keywords, label, link }): Offered => ({
      id: `go ${label}`,
      label,
      group: go,
      icon,
      link,
      ...(keys && { keys }),
      ...(keywords && { keywords })
    }))
  const own: ReadonlyArray<Offered> = [
    { id: "keys", label: keysText.title, group: actions, icon: Keyboard, keys: "?", run: onKeys },
    { id: "light", label: shellText.themeOf(shellText.light), group: theme, icon: Sun, run: () => chooseTheme("light") },
    { id: "dark", label: shellText.themeOf(shellText.dark), group: theme, icon: Moon, run: () => chooseTheme("dark") },
    { id: "system", label: shellText.themeOf(shellText.system), group: theme, icon: Monitor, run: () => chooseTheme("system") },
    ...(config.logout === null
      ? []
      : [{ id: "sign-out", label: shellText.signOut, group: actions, icon: LogOut, run: () => void signOut(id) }])
  ]
  const offered = [...places, ...useAreaCommands(typed), ...own]
  const headings = [...new Set(offered.map(({ group }) => group))]
  const choose = ({ link, run }: Offered): void => {
    onClose()
    if (link !== undefined) void navigate(link as never)
    run?.()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Overlay className="palette-scrim" />
        <Dialog.Content className="palette" aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">{paletteText.title}</Dialog.Title>
          <Command label={paletteText.title} loop>
            <Command.Input className="palette-input" placeholder={paletteText.placeholder} value={typed} onValueChange={setTyped} />
            <Command.List className="palette-list">
              <Command.Empty className="palette-empty">{paletteText.empty}</Command.Empty>
              {headings.map((heading) => (
                <Command.Group key={heading} heading={heading} className="palette-group">
                  {offered
                    .filter(({ group }) => group === heading)
                    .map((command) => {
                      const { hint, icon: Icon, id, keys, keywords = [], label } = command
                      return (
                        <Command.Item
                          key={id}
                          value={id}
                          keywords={[label, ...keywords]}
                          className="palette-item"
                          onSelect={() => choose(command)}
                        >
                          {Icon === undefined ? null : <Icon aria-hidden />}
                          <span className="truncate palette-label">{label}</span>
                          {hint === undefined ? null : <span className="palette-hint">{hint}</span>}
                          {keys === undefined ? null : <Keys keys={keys} />}
                        </Command.Item>
                      )
                    })}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
