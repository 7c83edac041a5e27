/** The tabs of the terminals, which are closed, renamed and moved by keys too. */
import { X } from "lucide-react"
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { terminalText } from "../../texts/terminal.js"
import { StatusDot } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"

export interface ShownTab {
  readonly id: string
  readonly label: string
  /** Its own part of the label, which the user can change. */
  readonly name: string
  readonly tone: Tone
  readonly isMoving: boolean
}

interface Props {
  readonly tabs: ReadonlyArray<ShownTab>
  readonly shown: string | undefined
  readonly onShow: (id: string, isFinal: boolean) => void
  readonly onClose: (id: string) => void
  readonly onMove: (id: string, by: number) => void
  /** The tab whose name is being changed. */
  readonly renaming: string | undefined
  readonly onRenaming: (id: string | undefined) => void
  readonly onRename: (id: string, name: string) => void
  /** Beside the last tab. */
  readonly children: ReactNode
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

export const TerminalTabs = ({ children, onClose, onMove, onRename, onRenaming, onShow, renaming, shown, tabs }: Props) => {
  const list = useRef<HTMLDivElement>(null)
  const keepsFocus = useRef(false)

  // A tab that was shown, moved, renamed or closed with the keys leaves the focus with the tabs
  useEffect(() => {
    if (!keepsFocus.current || renaming !== undefined) return
    keepsFocus.current = false
    list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus()
  }, [renaming, shown, tabs])

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [shown])

  const onKeyDown = (event: KeyboardEvent, id: string, index: number): void => {
    const step = steps[event.key]
    const place = { Home: 0, End: tabs.length - 1 }[event.key]
    const to = place ?? (step === undefined ? undefined : (index + step + tabs.length) % tabs.length)
    if (to === undefined && event.key !== "Delete" && event.key !== "F2") return
    event.preventDefault()
    keepsFocus.current = true
    if (step !== undefined && event.shiftKey) onMove(id, step)
    else if (to !== undefined) onShow(tabs[to]?.id ?? id, false)
    else if (event.key === "Delete") onClose(id)
    else onRenaming(id)
  }

  return (
    <div className="term-tabs">
      <div ref={list} className="term-tablist" role="tablist" aria-label={terminalText.tabs}>
        {tabs.map(({ id, isMoving, label, name, tone }, index) =>
          id === renaming ? (
            <Rename
              key={id}
              name={name}
              onEnd={(given) => {
                if (given !== undefined && given !== name) onRename(id, given)
                onRenaming(undefined)
              }}
            />
          ) : (
            <div key={id} className="term-tab" role="presentation" data-shown={id === shown || undefined}>
              <button
                type="button"
                role="tab"
                className="term-tab-button"
                title={label}
                aria-selected={id === shown}
                aria-controls={`panel-${id}`}
                tabIndex={id === shown ? 0 : -1}
                onClick={() => onShow(id, true)}
                onDoubleClick={() => onRenaming(id)}
                onKeyDown={(event) => onKeyDown(event, id, index)}
              >
                <StatusDot tone={tone} isMoving={isMoving} />
                <span className="truncate">{label}</span>
              </button>
              {/* The menu and the Delete key do the same: a list of tabs has nothing but tabs for screen readers */}
              <span className="term-tab-close" title={terminalText.close(label)} aria-hidden onClick={() => onClose(id)}>
                <X />
              </span>
            </div>
          )
        )}
      </div>
      {children}
    </div>
  )
}

interface RenameProps {
  readonly name: string
  /** Ends with a name, or without one if it was given up. */
  readonly onEnd: (name: string | undefined) => void
}

const Rename = ({ name, onEnd }: RenameProps) => {
  const [typed, setTyped] = useState(name)
  return (
    <div className="term-tab" role="presentation" data-shown>
      <input
        className="term-rename"
        aria-label={terminalText.renameLabel}
        value={typed}
        maxLength={64}
        autoFocus
        spellCheck={false}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => onEnd(typed)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === "Enter") onEnd(typed)
          if (event.key === "Escape") onEnd(undefined)
        }}
      />
    </div>
  )
}
