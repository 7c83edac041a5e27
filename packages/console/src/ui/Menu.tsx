import { Check } from "lucide-react"
import { DropdownMenu as Radix } from "radix-ui"
import type { ReactElement, ReactNode } from "react"
import { Keys } from "./Keys.js"
import "./Menu.css"

interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactElement
  readonly align?: "start" | "center" | "end"
  readonly side?: "top" | "bottom" | "right"
  readonly children: ReactNode
  readonly label?: string
}

export const Menu = ({ align = "end", children, label, side = "bottom", trigger }: MenuProps) => (
  <Radix.Root modal={false}>
    <Radix.Trigger asChild>{trigger}</Radix.Trigger>
    <Radix.Portal>
      <Radix.Content className="menu" align={align} side={side} sideOffset={4} collisionPadding={8} aria-label={label} loop>
        {children}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
)

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly keys?: string | undefined
  readonly hint?: ReactNode
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly isChecked?: boolean | undefined
  readonly onSelect?: () => void
  /** The item is a link: give the element. */
  readonly asChild?: boolean
  readonly children: ReactNode
}

export const MenuItem = ({
  asChild = false,
  children,
  hint,
  icon,
  isChecked,
  isDangerous = false,
  isDisabled = false,
  keys,
  onSelect
}: MenuItemProps) => (
  <Radix.Item
    className={`menu-item ${isDangerous ? "menu-item-danger" : ""}`}
    disabled={isDisabled}
    asChild={asChild}
    {...(onSelect === undefined ? {} : { onSelect })}
  >
    {asChild ? (
      children
    ) : (
      <>
        {icon}
        <span className="menu-item-label">
          {children}
          {hint === undefined ? null : <span className="menu-item-hint">{hint}</span>}
        </span>
        {isChecked === true ? <Check className="menu-item-check" aria-hidden /> : null}
        {keys === undefined ? null : <Keys keys={keys} />}
      </>
    )}
  </Radix.Item>
)

export const MenuSeparator = () => <Radix.Separator className="menu-separator" />

export const MenuLabel = ({ children }: { readonly children: ReactNode }) => <Radix.Label className="menu-label">{children}</Radix.Label>
