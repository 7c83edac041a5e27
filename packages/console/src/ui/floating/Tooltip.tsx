import { Tooltip as Radix } from "radix-ui"
import type { FocusEvent, ReactElement, ReactNode } from "react"
import { Keys } from "../page/Keys.js"
import "./Tooltip.css"

/** Around the whole application: after the first tooltip, the next ones show at once. */
export const TooltipProvider = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
)

interface Props {
  readonly label: ReactNode
  readonly keys?: string | undefined
  readonly side?: "top" | "right" | "bottom" | "left"
  /** The element that the tooltip is of: it takes a ref and listeners. */
  readonly children: ReactElement
}

/** A menu or dialog that closes gives the focus back, which says nothing to users of the pointer: the tooltip would cover what is beside. */
const onlyForKeyboard = (event: FocusEvent): void => {
  if (!event.currentTarget.matches(":focus-visible")) event.preventDefault()
}

export const Tooltip = ({ children, keys, label, side = "top" }: Props) => (
  <Radix.Root>
    <Radix.Trigger asChild onFocus={onlyForKeyboard}>
      {children}
    </Radix.Trigger>
    <Radix.Portal>
      <Radix.Content className="tooltip" side={side} sideOffset={6} collisionPadding={8}>
        {label}
        {keys === undefined ? null : <Keys keys={keys} />}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
)
