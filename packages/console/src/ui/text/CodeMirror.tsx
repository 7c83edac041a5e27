/** The editor itself: loaded when a file is first opened. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands"
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language"
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search"
import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state"
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers
} from "@codemirror/view"
import { classHighlighter } from "@lezer/highlight"
import { useEffect, useEffectEvent, useRef } from "react"
import { editorText } from "../../texts/ui.js"
import { languageOf } from "./languages.js"
import type { EditorProps } from "./Editor.js"

/** The page's policy lets in style elements with this nonce alone. */
const nonce = (): Extension => {
  const value = document.querySelector<HTMLElement>("[nonce]")?.nonce
  return value === undefined || value === "" ? [] : EditorView.cspNonce.of(value)
}

/** Sizes and colours of the page: the editor's own come with a rank above those of style sheets. */
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-line": { padding: "0 12px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)"
  },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 4px 0 12px", minWidth: "36px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--active)", color: "inherit" },
  ".cm-selectionMatch": { backgroundColor: "var(--amber-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--amber-soft)", outline: "1px solid var(--amber-dot)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--amber-dot) 45%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--canvas)", color: "var(--text)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { display: "flex", flexWrap: "wrap", alignItems: "center", gap: "4px", padding: "8px 36px 8px 12px" },
  ".cm-panel.cm-search br": { display: "none" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "4px", fontSize: "12px" },
  ".cm-textfield": {
    height: "26px",
    padding: "0 8px",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    backgroundColor: "var(--surface)"
  },
  ".cm-button": {
    height: "26px",
    padding: "0 8px",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    fontSize: "12px"
  }
})

const CodeMirror = ({ goTo, isReadOnly = false, label, onChange, onSave, path, value }: EditorProps) => {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  /** The text as the component's user knows it. */
  const known = useRef(value)
  const language = useRef(new Compartment())
  const access = useRef(new Compartment())
  const changed = useEffectEvent((lines: string) => {
    // The editor ends all lines alike: the file keeps the ends that it has
    const text = known.current.includes("\r\n") ? lines.replaceAll("\n", "\r\n") : lines
    known.current = text
    onChange?.(text)
  })
  // Where there is nothing to save to, the key is the screen's
  const save = useEffectEvent((): boolean => {
    onSave?.()
    return onSave !== undefined
  })
  const accessOf = (): Extension => [
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-description": editorText.leave,
      "aria-readonly": String(isReadOnly),
      // Browsers focus what can be edited by themselves; checkers of what scrolls want it said
      tabindex: "0"
    })
  ]
  const begin = useEffectEvent((parent: HTMLElement) => {
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: value,
        extensions: [
          nonce(),
          keymap.of([{ key: "Mod-s", run: () => save() }, ...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSpecialChars(),
          highlightSelectionMatches(),
          drawSelection(),
          history(),
          bracketMatching(),
          indentOnInput(),
          indentUnit.of("  "),
          search({ top: true }),
          syntaxHighlighting(classHighlighter),
          theme,
          language.current.of([]),
          access.current.of(accessOf()),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (docChanged && !transactions.some((each) => each.annotation(Transaction.remote) === true)) changed(state.doc.toString())
          })
        ]
      })
    })
    known.current = value
    view.current = editor
    return editor
  })

  useEffect(() => {
    if (place.current === null) return undefined
    const editor = begin(place.current)
    return () => {
      editor.destroy()
      view.current = undefined
    }
  }, [])

  // A text that came from elsewhere, not from typing
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || value === known.current) return
    known.current = value
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: [Transaction.remote.of(true)]
    })
  }, [value])

  const describe = useEffectEvent(() => view.current?.dispatch({ effects: access.current.reconfigure(accessOf()) }))
  useEffect(() => describe(), [isReadOnly, label])

  useEffect(() => {
    let isLeft = false
    languageOf(path)?.().then(
      (parser) => {
        if (!isLeft) view.current?.dispatch({ effects: language.current.reconfigure(StreamLanguage.define(parser)) })
      },
      // The text can be edited without its colours
      () => undefined
    )
    return () => {
      isLeft = true
    }
  }, [path])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined || goTo === undefined) return
    const line = editor.state.doc.line(Math.min(Math.max(1, goTo.line), editor.state.doc.lines))
    const at = Math.min(line.to, line.from + Math.max(0, goTo.column - 1))
    editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) })
    editor.focus()
  }, [goTo])

  return <div ref={place} className="editor-place-of-text" />
}

export default CodeMirror
