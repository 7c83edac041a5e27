import type { ReactNode } from "react"
import "./Badge.css"
import type { Tone } from "./tone.js"

export const Badge = ({ children, tone = "grey" }: { readonly tone?: Tone; readonly children: ReactNode }) => (
  <span className={`badge badge-${tone}`}>{children}</span>
)

interface StatusProps {
  readonly tone: Tone
  /** The state changes by itself soon. */
  readonly isMoving?: boolean
  readonly children: ReactNode
}

/** A state: a dot and a word, so that colour alone says nothing. */
export const Status = ({ children, isMoving = false, tone }: StatusProps) => (
  <span className="status">
    <StatusDot tone={tone} isMoving={isMoving} />
    <span className="truncate">{children}</span>
  </span>
)

export const StatusDot = ({ isMoving = false, tone }: Omit<StatusProps, "children">) => (
  <span className={`status-dot status-${tone} ${isMoving ? "status-moving" : ""}`} aria-hidden />
)
