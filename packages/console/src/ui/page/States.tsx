/** What a screen shows when it has nothing to show. */
import { CircleAlert, CloudOff, Lock } from "lucide-react"
import type { CSSProperties, ReactNode } from "react"
import { asAtelierError } from "../../app/client.js"
import { errorText } from "../../texts/ui.js"
import { Button } from "../forms/Button.js"
import { useTitle } from "./Page.js"
import "./States.css"

interface EmptyProps {
  readonly icon?: ReactNode
  readonly title: ReactNode
  readonly children?: ReactNode
  /** What to do now. */
  readonly action?: ReactNode
  /** It is the whole screen: its title is the screen's heading. */
  readonly isScreen?: boolean
}

/** The heading of a screen, which the browser's tab shows too. */
const ScreenTitle = ({ title }: Pick<EmptyProps, "title">) => {
  useTitle(typeof title === "string" ? title : "")
  return <h1 className="state-title">{title}</h1>
}

export const Empty = ({ action, children, icon, isScreen = false, title }: EmptyProps) => (
  <div className="state">
    {icon === undefined ? null : <div className="state-icon">{icon}</div>}
    {isScreen ? <ScreenTitle title={title} /> : <h2 className="state-title">{title}</h2>}
    {children === undefined ? null : <div className="state-text">{children}</div>}
    {action === undefined ? null : <div className="state-action">{action}</div>}
  </div>
)

interface ErrorProps {
  readonly error: unknown
  readonly onRetry?: (() => unknown) | undefined
  readonly isScreen?: boolean
}

/** What is not allowed and what does not exist look alike. */
export const NoAccess = ({ isScreen = false }: Pick<EmptyProps, "isScreen">) => (
  <Empty icon={<Lock />} isScreen={isScreen} title={errorText.noAccess}>
    {errorText.noAccessHint}
  </Empty>
)

/** A request failed. */
export const ErrorState = ({ error, isScreen = false, onRetry }: ErrorProps) => {
  const { detail, message, requestId, status } = asAtelierError(error)
  if (status === 403 || status === 404) return <NoAccess isScreen={isScreen} />
  return (
    <div role="alert">
      <Empty
        isScreen={isScreen}
        icon={status === 0 ? <CloudOff /> : <CircleAlert />}
        title={status === 0 ? errorText.offline : errorText.title}
        action={onRetry === undefined ? undefined : <Button onClick={() => void onRetry()}>{errorText.retry}</Button>}
      >
        {message}
        {detail === undefined ? null : <div className="mono faint">{detail}</div>}
        {requestId === undefined ? null : <div className="mono faint">{errorText.requestId(requestId)}</div>}
      </Empty>
    </div>
  )
}

interface SkeletonProps {
  readonly width?: CSSProperties["width"]
  readonly height?: CSSProperties["height"]
}

/** The place of a text that is loading. */
export const Skeleton = ({ height = 12, width = "100%" }: SkeletonProps) => (
  <span className="skeleton" style={{ width, height }} aria-hidden />
)

/** The place of some lines. */
export const SkeletonLines = ({ count = 3 }: { readonly count?: number }) => (
  <div className="skeleton-lines" aria-hidden>
    {Array.from({ length: count }, (_, index) => (
      <Skeleton key={index} width={`${92 - ((index * 17) % 40)}%`} />
    ))}
  </div>
)
