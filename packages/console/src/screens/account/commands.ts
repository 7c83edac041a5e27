/** The parts of the settings in the palette. */
import { Plus, Settings } from "lucide-react"
import type { Command, UseCommands } from "../../app/area.js"
import { accountText, newTokenText, secretsText } from "../../texts/account.js"
import { paletteText } from "../../texts/shell.js"
import { accountPlaces } from "./places.js"

const commands: ReadonlyArray<Command> = [
  ...accountPlaces.map(({ label, link }) => ({
    id: `settings ${link.to}`,
    label: `${accountText.title}: ${label}`,
    group: paletteText.groups.go,
    icon: Settings,
    link
  })),
  { id: "new token", label: newTokenText.title, group: paletteText.groups.do, icon: Plus, link: { to: "/settings/tokens/new" } },
  {
    id: "new secret",
    label: secretsText.create,
    group: paletteText.groups.do,
    icon: Plus,
    link: { to: "/settings/secrets", search: { open: "new" } }
  }
]

export const useAccountCommands: UseCommands = () => commands
