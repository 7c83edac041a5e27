/** What can be done to the rows that are selected. */
import { X } from "lucide-react"
import type { ReactNode } from "react"
import { tableText } from "../../texts/ui.js"
import { IconButton } from "../forms/Button.js"
import "./SelectionBar.css"

interface Props {
  readonly count: number
  readonly onClear: () => void
  readonly children: ReactNode
}

export const SelectionBar = ({ children, count, onClear }: Props) =>
  count === 0 ? null : (
    <div className="selection-bar" role="toolbar" aria-label={tableText.selection}>
      <span>{tableText.selected(count)}</span>
      {children}
      <IconButton size="small" label={tableText.clear} icon={<X />} onClick={onClear} />
    </div>
  )
