import { CircleAlert, CircleCheck, X } from "lucide-react"
import { useSyncExternalStore } from "react"
import { asAtelierError, statusOf } from "../../app/client.js"
import { signIn } from "../../app/sessionEnd.js"
import { toastText } from "../../texts/ui.js"
import { IconButton } from "../forms/Button.js"
import "./Toast.css"

interface Notice {
  readonly id: number
  readonly kind: "success" | "error"
  readonly message: string
  readonly detail?: string | undefined
  readonly action?: { readonly label: string; readonly run: () => void } | undefined
}

const shownFor = { success: 4_000, error: 10_000 }
const maximumShown = 4

let notices: ReadonlyArray<Notice> = []
let next = 0
const listeners = new Set<() => void>()

const set = (value: ReadonlyArray<Notice>): void => {
  notices = value
  for (const listener of listeners) listener()
}

const timers = new Map<number, ReturnType<typeof setTimeout>>()

const dismiss = (id: number): void => {
  hold(id)
  set(notices.filter((notice) => notice.id !== id))
}

/** Keeps a notice until it is released. */
const hold = (id: number): void => {
  clearTimeout(timers.get(id))
  timers.delete(id)
}

const release = ({ id, kind }: Pick<Notice, "id" | "kind">): void => {
  hold(id)
  timers.set(
    id,
    setTimeout(() => dismiss(id), shownFor[kind])
  )
}

const show = (notice: Omit<Notice, "id">): void => {
  const id = next++
  set([...notices.slice(1 - maximumShown), { id, ...notice }])
  release({ id, kind: notice.kind })
}

/** Says that something was done. */
export const notify = (message: string, action?: Notice["action"]): void => show({ kind: "success", message, action })

/** Says that something failed. */
export const notifyError = (error: unknown): void => {
  if (statusOf(error) === 401) return signIn()
  const { detail, message, validations } = asAtelierError(error)
  show({ kind: "error", message, detail: validations.map(({ detail, field }) => `${field}: ${detail}`).join("\n") || detail })
}

export const Toasts = () => {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices
  )
  return (
    <div className="toasts" role="region" aria-label={toastText.region} aria-live="polite">
      {shown.map(({ action, detail, id, kind, message }) => (
        <div
          key={id}
          className={`toast toast-${kind}`}
          role={kind === "error" ? "alert" : "status"}
          onPointerEnter={() => hold(id)}
          onPointerLeave={() => release({ id, kind })}
          onFocus={() => hold(id)}
          onBlur={() => release({ id, kind })}
        >
          {kind === "error" ? <CircleAlert aria-hidden /> : <CircleCheck aria-hidden />}
          <div className="toast-body">
            {message}
            {detail === undefined ? null : <div className="toast-detail">{detail}</div>}
          </div>
          {action === undefined ? null : (
            <button
              type="button"
              className="link toast-action"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton size="small" label={toastText.dismiss} icon={<X />} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
