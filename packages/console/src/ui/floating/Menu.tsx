import { Check } from "lucide-react"
import { DropdownMenu as Radix } from "radix-ui"
import type { ReactElement, ReactNode } from "react"
import { Keys } from "../page/Keys.js"
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

interface ContentProps {
  readonly icon?: ReactNode
  readonly keys?: string | undefined
  readonly hint?: ReactNode
  readonly children: ReactNode
}

const Content = ({ children, hint, icon, keys }: ContentProps) => (
  <>
    {icon}
    <span className="menu-item-label">
      {children}
      {hint === undefined ? null : <span className="menu-item-hint">{hint}</span>}
    </span>
    {keys === undefined ? null : <Keys keys={keys} />}
  </>
)

interface MenuItemProps extends ContentProps {
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly onSelect?: () => void
  /** The item is a link: give the element. */
  readonly asChild?: boolean
}

export const MenuItem = ({ asChild = false, isDangerous = false, isDisabled = false, onSelect, ...content }: MenuItemProps) => (
  <Radix.Item
    className={`menu-item ${isDangerous ? "menu-item-danger" : ""}`}
    disabled={isDisabled}
    asChild={asChild}
    {...(onSelect === undefined ? {} : { onSelect })}
  >
    {asChild ? content.children : <Content {...content} />}
  </Radix.Item>
)

interface MenuChoicesProps {
  /** The name of the group for screen readers. */
  readonly label: string
  /** The `value` of the choice that is made. */
  readonly value: string
  readonly onChoose: (value: string) => void
  readonly children: ReactNode
}

/** Items of which one is chosen. */
export const MenuChoices = ({ children, label, onChoose, value }: MenuChoicesProps) => (
  <Radix.RadioGroup aria-label={label} value={value} onValueChange={onChoose}>
    {children}
  </Radix.RadioGroup>
)

export const MenuChoice = ({ value, ...content }: ContentProps & { readonly value: string }) => (
  <Radix.RadioItem className="menu-item" value={value}>
    <Content {...content} />
    <Radix.ItemIndicator asChild>
      <Check className="menu-item-check" aria-hidden />
    </Radix.ItemIndicator>
  </Radix.RadioItem>
)

export const MenuSeparator = () => <Radix.Separator className="menu-separator" />

export const MenuLabel = ({ children }: { readonly children: ReactNode }) => <Radix.Label className="menu-label">{children}</Radix.Label>
