/** Lines that grow at the end: logs of builds and of scripts. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { ArrowDownToLine, ChevronDown, ChevronUp, Download, Search, WrapText } from "lucide-react"
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import { saveFile } from "../../app/saveFile.js"
import { logText } from "../../texts/ui.js"
import { ansiSpans, plainText } from "./ansi.js"
import { IconButton } from "../forms/Button.js"
import { exactTime } from "../page/Time.js"
import "./Log.css"

export interface LogLine {
  readonly id: number | string
  readonly text: string
  readonly at?: string
  readonly level?: "trace" | "debug" | "info" | "warn" | "error"
  /** A heading, such as a stage of a build. */
  readonly isHeading?: boolean
}

interface Props {
  readonly label: string
  readonly lines: ReadonlyArray<LogLine>
  /** The name of the file that is downloaded. */
  readonly fileName: string
  /** More lines may come. */
  readonly isLive?: boolean
  readonly height?: number
}

const lineHeight = 20
/** A longer line is cut: no program's output may stop the page. */
const maximumLength = 10_000

export const Log = ({ fileName, height = 420, isLive = false, label, lines }: Props) => {
  const scroller = useRef<HTMLDivElement>(null)
  const scrolled = useRef(0)
  const [isWrapped, setWrapped] = useState(true)
  const [isFollowing, setFollowing] = useState(true)
  const [typed, setTyped] = useState("")
  const [at, setAt] = useState(0)
  const words = useDeferredValue(typed.trim().toLowerCase())
  const found = useMemo(
    () => (words === "" ? [] : lines.flatMap(({ text }, index) => (plainText(text).toLowerCase().includes(words) ? [index] : []))),
    [lines, words]
  )
  // The same function again, or each row would be measured anew
  const getItemKey = useCallback((index: number) => lines[index]?.id ?? index, [lines])
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 20,
    getItemKey
  })

  // A full log has as many lines as before when one comes
  const newest = lines.at(-1)?.id
  useEffect(() => {
    if (isFollowing && lines.length > 0) virtualizer.scrollToIndex(lines.length - 1, { align: "end" })
  }, [isFollowing, lines.length, newest, virtualizer])

  const goTo = (next: number): void => {
    if (found.length === 0) return
    const index = (next + found.length) % found.length
    setAt(index)
    setFollowing(false)
    virtualizer.scrollToIndex(found[index] ?? 0, { align: "center" })
  }

  const download = (): void => saveFile(fileName, [lines.map(({ text }) => plainText(text)).join("\n"), "\n"], "text/plain")

  return (
    <div className="log">
      <div className="log-tools">
        <div className="log-search">
          <Search aria-hidden />
          <input
            type="search"
            aria-label={logText.search}
            placeholder={logText.search}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value)
              setAt(0)
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return
              event.preventDefault()
              goTo(event.shiftKey ? at - 1 : at + 1)
            }}
          />
          {words === "" ? null : (
            <span className="log-found" role="status">
              {found.length === 0 ? logText.nothing : logText.found(at + 1, found.length)}
            </span>
          )}
        </div>
        {words === "" ? null : (
          <>
            <IconButton size="small" label={logText.previous} icon={<ChevronUp />} onClick={() => goTo(at - 1)} />
            <IconButton size="small" label={logText.next} icon={<ChevronDown />} onClick={() => goTo(at + 1)} />
          </>
        )}
        <IconButton size="small" label={logText.wrap} aria-pressed={isWrapped} icon={<WrapText />} onClick={() => setWrapped(!isWrapped)} />
        <IconButton
          size="small"
          label={logText.follow}
          aria-pressed={isFollowing}
          icon={<ArrowDownToLine />}
          onClick={() => setFollowing(!isFollowing)}
        />
        <IconButton size="small" label={logText.download} icon={<Download />} onClick={download} />
      </div>
      <div
        ref={scroller}
        className={`log-lines ${isWrapped ? "log-wrapped" : ""}`}
        style={{ height: Math.min(height, Math.max(120, virtualizer.getTotalSize() + 24)) }}
        role="log"
        aria-label={label}
        aria-busy={isLive}
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
          const isUp = scrollTop < scrolled.current
          const isAtEnd = scrollHeight - scrollTop - clientHeight < 2 * lineHeight
          scrolled.current = scrollTop
          // Lines that come move the end away; only the reader moves up
          if (isUp && !isAtEnd) setFollowing(false)
          else if (!isUp && isAtEnd && words === "") setFollowing(true)
        }}
      >
        <div className="log-space" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const line = lines[index]
            return line === undefined ? null : (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className={`log-line ${line.isHeading === true ? "log-heading" : ""} log-${line.level ?? "info"} ${found[at] === index && words !== "" ? "log-current" : ""}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                <span className="log-number" title={line.at === undefined ? undefined : exactTime(line.at)}>
                  {index + 1}
                </span>
                <Text text={line.text} words={words} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const Text = memo(({ text, words }: { readonly text: string; readonly words: string }) => (
  <span className="log-text">
    {ansiSpans(text.length > maximumLength ? `${text.slice(0, maximumLength)}…` : text).map(({ style, text }, index) => (
      <span key={index} className={style}>
        {words === "" ? text : marked(text, words)}
      </span>
    ))}
  </span>
))

/** A text whose parts that were looked for are marked. */
const marked = (text: string, words: string) => {
  const parts = []
  const lower = text.toLowerCase()
  let from = 0
  for (let found = lower.indexOf(words); found !== -1; found = lower.indexOf(words, from)) {
    parts.push(text.slice(from, found), <mark key={found}>{text.slice(found, found + words.length)}</mark>)
    from = found + words.length
  }
  return [...parts, text.slice(from)]
}
