/** Text with the colour codes of ECMA-48. All other codes are left out, so no text can act on the page. */

export interface Span {
  readonly text: string
  /** Classes of `Log.css`. */
  readonly style: string
}

// oxlint-disable-next-line no-control-regex -- The codes begin with a control character
const codes = /\u001b(?:\[([0-9;:]*)([A-Za-z@`~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_()#][0-9A-Za-z]?|[=>78cDEHMNOZ])/g
// oxlint-disable-next-line no-control-regex -- They would be shown as boxes
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

interface State {
  readonly colour: string
  readonly isBold: boolean
  readonly isDim: boolean
  readonly isUnderlined: boolean
}

const plain: State = { colour: "", isBold: false, isDim: false, isUnderlined: false }

const after = (state: State, parameters: string): State => {
  const list = (parameters === "" ? "0" : parameters).split(/[;:]/).map(Number)
  let next = state
  for (let at = 0; at < list.length; at += 1) {
    const code = list[at] ?? 0
    if (code === 0) next = plain
    else if (code === 1) next = { ...next, isBold: true }
    else if (code === 2) next = { ...next, isDim: true }
    else if (code === 4) next = { ...next, isUnderlined: true }
    else if (code === 22) next = { ...next, isBold: false, isDim: false }
    else if (code === 24) next = { ...next, isUnderlined: false }
    else if (code >= 30 && code <= 37) next = { ...next, colour: `ansi-${code - 30}` }
    else if (code >= 90 && code <= 97) next = { ...next, colour: `ansi-${code - 90}` }
    else if (code === 39) next = { ...next, colour: "" }
    else if (code === 38 || code === 48) {
      // Of the 256 colours those that have names
      const colour = list[at + 1] === 5 ? (list[at + 2] ?? 0) : -1
      if (code === 38) next = { ...next, colour: colour >= 0 && colour < 16 ? `ansi-${colour % 8}` : "" }
      at += list[at + 1] === 5 ? 2 : 4
    }
  }
  return next
}

const styleOf = ({ colour, isBold, isDim, isUnderlined }: State): string =>
  [colour, isBold ? "ansi-bold" : "", isDim ? "ansi-dim" : "", isUnderlined ? "ansi-underlined" : ""]
    .filter((each) => each !== "")
    .join(" ")

const clean = (text: string): string => text.replace(controls, "")

/** Splits a line where its colours change. */
export const ansiSpans = (line: string): ReadonlyArray<Span> => {
  // A carriage return has a terminal write over what came before
  const visible = line.replace(/\r+$/, "")
  const text = visible.slice(visible.lastIndexOf("\r") + 1)
  if (!text.includes("\u001b")) return [{ text: clean(text), style: "" }]
  const spans: Array<Span> = []
  let state = plain
  let from = 0
  for (const match of text.matchAll(codes)) {
    if (match.index > from) spans.push({ text: clean(text.slice(from, match.index)), style: styleOf(state) })
    if (match[2] === "m") state = after(state, match[1] ?? "")
    from = match.index + match[0].length
  }
  if (from < text.length) spans.push({ text: clean(text.slice(from)), style: styleOf(state) })
  return spans
}

/** The text without its codes. */
export const plainText = (line: string): string =>
  ansiSpans(line)
    .map(({ text }) => text)
    .join("")
