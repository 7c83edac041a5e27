import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import "./Callout.css"

export type CalloutKind = "info" | "success" | "warning" | "error"

const icons = { info: Info, success: CircleCheck, warning: TriangleAlert, error: CircleAlert }

interface Props {
  readonly kind?: CalloutKind
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** Something to know before going on. */
export const Callout = ({ action, children, kind = "info", title }: Props) => {
  const Icon = icons[kind]
  return (
    <div className={`callout callout-${kind}`} role={kind === "error" ? "alert" : undefined}>
      <Icon aria-hidden />
      <div className="callout-body">
        <div className="callout-title">{title}</div>
        {children === undefined || children === null ? null : <div className="callout-text">{children}</div>}
      </div>
      {action}
    </div>
  )
}
