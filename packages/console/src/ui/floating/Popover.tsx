import { Popover as Radix } from "radix-ui"
import type { ReactElement, ReactNode } from "react"
import "./Popover.css"

interface Props {
  readonly trigger: ReactElement
  readonly children: ReactNode
  readonly align?: "start" | "center" | "end"
  readonly isOpen?: boolean
  readonly onOpenChange?: (isOpen: boolean) => void
  readonly label: string
  /** The panel is as wide as the button. */
  readonly isFitted?: boolean
}

export const Popover = ({ align = "end", children, isFitted = false, isOpen, label, onOpenChange, trigger }: Props) => (
  <Radix.Root {...(isOpen === undefined ? {} : { open: isOpen })} {...(onOpenChange === undefined ? {} : { onOpenChange })}>
    <Radix.Trigger asChild>{trigger}</Radix.Trigger>
    <Radix.Portal>
      <Radix.Content
        className={`popover ${isFitted ? "popover-fitted" : ""}`}
        align={align}
        sideOffset={4}
        collisionPadding={8}
        aria-label={label}
      >
        {children}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
)
