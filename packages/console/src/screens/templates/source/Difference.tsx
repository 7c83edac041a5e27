/** What differs between two sources, file by file. */
import { Columns2, Rows2 } from "lucide-react"
import { Fragment, useLayoutEffect, useMemo, useRef, useState } from "react"
import { store, stored } from "../../../app/stored.js"
import { sourceText } from "../../../texts/templates.js"
import { Badge } from "../../../ui/page/Badge.js"
import type { Tone } from "../../../ui/page/tone.js"
import { IconButton } from "../../../ui/forms/Button.js"
import type { Source } from "./archive.js"
import { changesOf, type FileChange, type Line, linesOfChange, type Part, pairsOf, partsOf } from "./difference.js"
import "./Difference.css"

const tones: Readonly<Record<FileChange["kind"], Tone>> = { added: "green", removed: "red", changed: "blue" }

/** Side by side needs so many pixels. */
const roomForTwo = 760
const layoutKey = "atelier-difference"

/** Files that are open at first: many at once would stop the page. */
const maximumOpen = 20
/** Lines of a file that are drawn at first, and with each step. */
const step = 500

interface Props {
  readonly before: Source
  readonly after: Source
}

export const Difference = ({ after, before }: Props) => {
  const changes = useMemo(() => changesOf(before, after), [before, after])
  const frame = useRef<HTMLDivElement>(null)
  const [hasRoom, setRoom] = useState(true)
  const [isSplit, setSplit] = useState(() => stored(layoutKey) !== "unified")
  useLayoutEffect(() => {
    if (frame.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => setRoom((entry?.contentRect.width ?? 0) >= roomForTwo))
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])
  const choose = (isTwo: boolean): void => {
    setSplit(isTwo)
    store(layoutKey, isTwo ? undefined : "unified")
  }
  return (
    <div ref={frame} className="diff">
      <div className="diff-head">
        <span className="muted" role="status">
          {changes.length === 0 ? sourceText.unchanged : sourceText.differing(changes.length)}
        </span>
        {hasRoom && changes.length > 0 ? (
          <span role="group" aria-label={sourceText.view} className="diff-views">
            <IconButton size="small" label={sourceText.unified} icon={<Rows2 />} aria-pressed={!isSplit} onClick={() => choose(false)} />
            <IconButton size="small" label={sourceText.split} icon={<Columns2 />} aria-pressed={isSplit} onClick={() => choose(true)} />
          </span>
        ) : null}
      </div>
      {changes.map((change, index) => (
        <File key={change.path} change={change} isSplit={isSplit && hasRoom} isOpenFirst={index < maximumOpen} />
      ))}
    </div>
  )
}

interface FileProps {
  readonly change: FileChange
  readonly isSplit: boolean
  readonly isOpenFirst: boolean
}

const File = ({ change, isOpenFirst, isSplit }: FileProps) => {
  const [isOpen, setOpen] = useState(isOpenFirst)
  return (
    <details className="diff-file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="diff-name">
        <span className="truncate mono" title={change.path}>
          {change.path}
        </span>
        <Badge tone={tones[change.kind]}>{sourceText.kinds[change.kind]}</Badge>
      </summary>
      {isOpen ? <Content change={change} isSplit={isSplit} /> : null}
    </details>
  )
}

const Content = ({ change, isSplit }: Omit<FileProps, "isOpenFirst">) => {
  const { after, before, kind, path } = change
  // A change of one file makes the list of all anew
  const lines = useMemo(() => linesOfChange({ kind, path, before, after }), [kind, path, before, after])
  if (lines === "binary") return <p className="diff-note">{sourceText.isBinary}</p>
  if (lines === "large") return <p className="diff-note">{sourceText.isLarge}</p>
  if (lines === "mode" || lines.every(({ kind }) => kind === "same")) return <p className="diff-note">{sourceText.isMode}</p>
  // A file that is only on one side has no second one
  return <Lines lines={lines} path={change.path} isSplit={isSplit && change.kind === "changed"} />
}

const Lines = ({ isSplit, lines, path }: { readonly lines: ReadonlyArray<Line>; readonly path: string; readonly isSplit: boolean }) => {
  const parts = useMemo(() => partsOf(lines), [lines])
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [shown, setShown] = useState(step)
  let left = shown
  let hidden = 0
  const visible = parts.map((part, index): Part => {
    if (part.kind === "gap" && !opened.has(index)) return part
    const lines = part.lines.slice(0, Math.max(0, left))
    hidden += part.lines.length - lines.length
    left -= lines.length
    return { kind: "lines", lines }
  })
  return (
    <>
      <div className="diff-scroll" tabIndex={0} role="group" aria-label={path}>
        <table className={isSplit ? "diff-lines diff-split" : "diff-lines"}>
          {isSplit ? (
            // The first row may be one over all columns, which says no widths
            <colgroup>
              <col className="diff-numbers" />
              <col />
              <col className="diff-numbers" />
              <col />
            </colgroup>
          ) : null}
          <tbody>
            {visible.map((part, index) =>
              part.kind === "gap" ? (
                left <= 0 ? null : (
                  <tr key={index}>
                    <td colSpan={4} className="diff-gap">
                      <button type="button" className="link" onClick={() => setOpened(new Set([...opened, index]))}>
                        {sourceText.gap(part.lines.length)}
                      </button>
                    </td>
                  </tr>
                )
              ) : (
                <Fragment key={index}>{isSplit ? <Split lines={part.lines} /> : <Unified lines={part.lines} />}</Fragment>
              )
            )}
          </tbody>
        </table>
      </div>
      {hidden === 0 ? null : (
        <button type="button" className="link diff-note" onClick={() => setShown(shown + step)}>
          {sourceText.more(Math.min(hidden, step))}
        </button>
      )}
    </>
  )
}

const signs: Readonly<Record<Line["kind"], string>> = { same: " ", removed: "-", added: "+" }

/** A longer line is cut. */
const maximumLine = 2_000
const cut = (text: string): string => (text.length > maximumLine ? `${text.slice(0, maximumLine)}…` : text)

const Unified = ({ lines }: { readonly lines: ReadonlyArray<Line> }) =>
  lines.map(({ after, before, kind, text }) => (
    <tr key={`${before ?? ""} ${after ?? ""}`} className={`diff-${kind}`}>
      <td className="diff-number">{before}</td>
      <td className="diff-number">{after}</td>
      <td className="diff-sign">{signs[kind]}</td>
      <td className="diff-text">{cut(text)}</td>
    </tr>
  ))

const Split = ({ lines }: { readonly lines: ReadonlyArray<Line> }) =>
  pairsOf(lines).map(({ left, right }) => (
    <tr key={`${left?.before ?? ""} ${right?.after ?? ""}`}>
      <td className="diff-number">{left?.before}</td>
      <td className={`diff-text diff-${left?.kind ?? "none"}`}>{left === undefined ? "" : cut(left.text)}</td>
      <td className="diff-number">{right?.after}</td>
      <td className={`diff-text diff-${right?.kind ?? "none"}`}>{right === undefined ? "" : cut(right.text)}</td>
    </tr>
  ))
