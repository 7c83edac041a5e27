import type { Workspace } from "@atelier/client"
import {
  AArrowDown,
  AArrowUp,
  ArrowLeft,
  ArrowRight,
  ClipboardPaste,
  Copy,
  EllipsisVertical,
  ExternalLink,
  Pencil,
  Search,
  X
} from "lucide-react"
import { serverPage } from "../../app/config.js"
import { terminalText } from "../../texts/terminal.js"
import { IconButton } from "../../ui/forms/Button.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import type { Tabs, TerminalTab } from "./tabs.js"

/** The server's own page with the same shell. */
const separatePage = ({ name, owner_name }: Workspace, { agent, id }: TerminalTab): string =>
  serverPage(`/@${owner_name}/${name}.${agent}/terminal?reconnect=${id}`)

interface Props {
  readonly workspace: Workspace
  readonly tabs: Tabs
  readonly labelOf: (tab: TerminalTab) => string
  readonly font: { readonly canShrink: boolean; readonly canGrow: boolean; readonly change: (by: number) => void }
  readonly isSearching: boolean
  readonly onSearch: () => void
  readonly onCopy: () => Promise<void>
  readonly onPaste: () => Promise<void>
  readonly onRename: (id: string) => void
  readonly onMove: (id: string, by: number) => void
  readonly onClose: (id: string) => void
}

/** What can be done with the terminal that is shown. */
export const TerminalTools = ({
  font,
  isSearching,
  labelOf,
  onClose,
  onCopy,
  onMove,
  onPaste,
  onRename,
  onSearch,
  tabs,
  workspace
}: Props) => {
  const shown = tabs.all.find(({ id }) => id === tabs.shown)
  return (
    <div className="term-tools">
      <IconButton
        size="small"
        label={terminalText.search}
        keys="Ctrl Shift F"
        icon={<Search />}
        aria-pressed={isSearching}
        disabled={shown === undefined}
        onClick={onSearch}
      />
      <IconButton
        size="small"
        label={terminalText.smaller}
        icon={<AArrowDown />}
        disabled={!font.canShrink}
        onClick={() => font.change(-1)}
      />
      <IconButton size="small" label={terminalText.larger} icon={<AArrowUp />} disabled={!font.canGrow} onClick={() => font.change(1)} />
      {shown === undefined ? null : (
        <Menu label={terminalText.more} trigger={<IconButton size="small" label={terminalText.more} icon={<EllipsisVertical />} />}>
          <MenuItem icon={<Copy />} keys="Ctrl Shift C" onSelect={() => void onCopy()}>
            {terminalText.copy}
          </MenuItem>
          <MenuItem icon={<ClipboardPaste />} keys="Ctrl Shift V" onSelect={() => void onPaste()}>
            {terminalText.paste}
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={<Pencil />} onSelect={() => onRename(shown.id)}>
            {terminalText.rename}
          </MenuItem>
          <MenuItem icon={<ArrowLeft />} isDisabled={tabs.all[0] === shown} onSelect={() => onMove(shown.id, -1)}>
            {terminalText.moveLeft}
          </MenuItem>
          <MenuItem icon={<ArrowRight />} isDisabled={tabs.all.at(-1) === shown} onSelect={() => onMove(shown.id, 1)}>
            {terminalText.moveRight}
          </MenuItem>
          <MenuItem asChild>
            <a href={separatePage(workspace, shown)} target="_blank" rel="noreferrer">
              <ExternalLink /> {terminalText.separate}
            </a>
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={<X />} onSelect={() => onClose(shown.id)}>
            {terminalText.close(labelOf(shown))}
          </MenuItem>
        </Menu>
      )}
    </div>
  )
}
