/** A line of the filter language, with completion. docs/identity.md, "Finding users", has its syntax. */
import { Search, X } from "lucide-react"
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react"
import { useKeys } from "../../app/keys.js"
import { filterText } from "../../texts/ui.js"
import { IconButton } from "../forms/Button.js"
import { Keys } from "../page/Keys.js"
import "../forms/Field.css"
import "./Filter.css"

export interface FilterKey {
  readonly key: string
  readonly hint?: string
  /** The values that there are. */
  readonly values?: ReadonlyArray<string>
  /** Asks for values that begin with what was typed. */
  readonly search?: (typed: string, signal: AbortSignal) => Promise<ReadonlyArray<string>>
}

export interface FilterProps {
  readonly value: string
  /** Called a moment after the last key, and at once for Enter. */
  readonly onChange: (value: string) => void
  readonly label: string
  readonly placeholder?: string
  readonly keys: ReadonlyArray<FilterKey>
}

interface Suggestion {
  readonly text: string
  readonly hint?: string | undefined
  /** The value of a key follows. */
  readonly isKey: boolean
}

const pause = 250
const maximumShown = 8

/** The word before the caret: spaces in quotes belong to it. */
const wordBefore = (text: string): string => /(?:[^\s"]|"[^"]*"?)*$/.exec(text)?.[0] ?? ""

const quoted = (value: string): string => (/[\s:"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value)

/** The text of the line: what is typed reaches the list a moment later, and what changes the list otherwise comes back. */
const useText = (value: string, onChange: (value: string) => void) => {
  const [text, setText] = useState(value)
  const sent = useRef(value)

  // The address changed otherwise, such as by the back button
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])

  const send = (next: string): void => {
    if (next === sent.current) return
    sent.current = next
    onChange(next)
  }
  const sendTyped = useEffectEvent(send)
  useEffect(() => {
    const timer = setTimeout(() => sendTyped(text.trim()), pause)
    return () => clearTimeout(timer)
  }, [text])
  return { text, setText, send }
}

/** What the word before the caret may become. */
const useSuggestions = (keys: ReadonlyArray<FilterKey>, text: string) => {
  const word = wordBefore(text)
  const colon = word.indexOf(":")
  const typedKey = colon === -1 ? undefined : word.slice(0, colon).toLowerCase()
  const typed = word.slice(colon + 1).replaceAll('"', "")
  const key = keys.find((each) => each.key === typedKey)
  const [found, setFound] = useState<ReadonlyArray<string>>([])
  const ask = useEffectEvent((signal: AbortSignal) => key?.search?.(typed, signal))
  useEffect(() => {
    setFound([])
    const controller = new AbortController()
    const timer = setTimeout(() => {
      void ask(controller.signal)
        ?.then((values) => setFound(values))
        .catch(() => undefined)
    }, pause / 2)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [typedKey, typed])

  const values = [...(key?.values ?? []), ...found].filter((each) => each.toLowerCase().startsWith(typed.toLowerCase()) && each !== typed)
  const suggestions: ReadonlyArray<Suggestion> =
    key === undefined
      ? keys
          .filter((each) => each.key.startsWith(word.toLowerCase()))
          .map((each) => ({ text: `${each.key}:`, hint: each.hint, isKey: true }))
          .slice(0, maximumShown + 4)
      : values.slice(0, maximumShown).map((each) => ({ text: each, isKey: false }))
  return {
    suggestions,
    /** The text before the word, and what the word has of a key and its colon. */
    before: text.slice(0, text.length - word.length),
    keyText: word.slice(0, colon + 1)
  }
}

export const Filter = ({ keys, label, onChange, placeholder, value }: FilterProps) => {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const { send, setText, text } = useText(value, onChange)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const { before, keyText, suggestions } = useSuggestions(keys, text)
  const isShown = isOpen && suggestions.length > 0

  const choose = ({ isKey, text: chosen }: Suggestion): void => {
    setText(isKey ? `${before}${chosen}` : `${before}${keyText}${quoted(chosen)} `)
    setActive(-1)
    setOpen(true)
    input.current?.focus()
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      event.stopPropagation()
      const step = event.key === "ArrowDown" ? 1 : -1
      setOpen(true)
      // From no choice, up goes to the last one
      setActive((before) => ((before < 0 && step < 0 ? 0 : before) + step + suggestions.length) % Math.max(1, suggestions.length))
    } else if (event.key === "Enter" || (event.key === "Tab" && isShown && active >= 0)) {
      event.preventDefault()
      const suggestion = isShown ? suggestions[active] : undefined
      if (suggestion !== undefined) return choose(suggestion)
      setOpen(false)
      send(text.trim())
    } else if (event.key === "Escape") {
      if (isShown) setOpen(false)
      else input.current?.blur()
    }
  }

  useKeys({
    "/": () => {
      // The next word follows those that there are
      if (text !== "" && !text.endsWith(" ")) setText(`${text} `)
      input.current?.focus()
    }
  })

  return (
    <div className="filter" onBlur={(event) => (event.currentTarget.contains(event.relatedTarget) ? undefined : setOpen(false))}>
      <Search className="filter-icon" aria-hidden />
      <input
        ref={input}
        className="input filter-input"
        role="combobox"
        aria-label={label}
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
        placeholder={placeholder ?? filterText.placeholder}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onFocus={() => setOpen(true)}
        onChange={(event) => {
          setText(event.target.value)
          setOpen(true)
          setActive(-1)
        }}
        onKeyDown={onKeyDown}
      />
      <span className="filter-end">
        {text === "" ? (
          <Keys keys="/" />
        ) : (
          <IconButton
            size="small"
            label={filterText.clear}
            icon={<X />}
            onClick={() => {
              setText("")
              send("")
            }}
          />
        )}
      </span>
      <SuggestionList id={id} suggestions={suggestions} active={active} isShown={isShown} onChoose={choose} />
    </div>
  )
}

interface ListProps {
  /** What its elements' ids begin with. */
  readonly id: string
  readonly suggestions: ReadonlyArray<Suggestion>
  readonly active: number
  readonly isShown: boolean
  readonly onChoose: (suggestion: Suggestion) => void
}

const SuggestionList = ({ active, id, isShown, onChoose, suggestions }: ListProps) => (
  <ul id={`${id}-list`} className="filter-list" role="listbox" aria-label={filterText.suggestions} hidden={!isShown}>
    {suggestions.map((suggestion, index) => (
      <li
        key={suggestion.text}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === active}
        className="filter-option"
        onMouseDown={(event) => {
          event.preventDefault()
          onChoose(suggestion)
        }}
      >
        <span className="mono">{suggestion.text}</span>
        {suggestion.hint === undefined ? null : <span className="faint truncate">{suggestion.hint}</span>}
      </li>
    ))}
  </ul>
)
