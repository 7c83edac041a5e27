/** Tables that never wrap. */
import { plain } from "./text.js"

export interface Column<A> {
  readonly title: string
  readonly of: (row: A) => string
  /** Never shortened: the name that other commands take. */
  readonly isKey?: boolean
}

const gap = 2
/** Characters that a shortened cell keeps at least. */
const narrowest = 6

/** The columns that a character takes on a terminal: wide ones of East Asia and pictures take two. */
const widthOf = (text: string): number => {
  let width = 0
  for (const { 0: character } of text.matchAll(/./gsu)) {
    if (/\p{Mark}|\u200d|\ufe0f/u.test(character)) continue
    width += /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
      character
    )
      ? 2
      : 1
  }
  return width
}

const shortened = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ""
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break
    kept += character
  }
  return `${kept}…`
}

const padded = (text: string, width: number): string => `${text}${" ".repeat(Math.max(0, width - widthOf(text)))}`

const total = (widths: ReadonlyArray<number>): number => widths.reduce((sum, each) => sum + each, 0) + gap * Math.max(0, widths.length - 1)

/** The widths of columns within a line: the widest give way first; what does not fit at all is left out from the end. */
const fitted = (natural: ReadonlyArray<number>, keys: ReadonlyArray<boolean>, width: number): ReadonlyArray<number> => {
  const widths = [...natural]
  while (total(widths) > width) {
    const at = widths.reduce(
      (best, each, index) => (keys[index] !== true && each > (widths[best] ?? 0) ? index : best),
      keys.indexOf(false)
    )
    const widest = widths[at] ?? 0
    if (at >= 0 && widest > narrowest) widths[at] = widest - 1
    else if (widths.length > 1) widths.pop()
    else break
  }
  return widths
}

/** Returns the lines of a table, the first one with the titles. */
export const table = <A>(rows: ReadonlyArray<A>, columns: ReadonlyArray<Column<A>>, width: number): ReadonlyArray<string> => {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => plain(of(row))))]
  const natural = columns.map((_, index) => Math.max(...cells.map((line) => widthOf(line[index] ?? ""))))
  const keys = columns.map(({ isKey }) => isKey === true)
  const widths = fitted(natural, keys, width)
  return cells.map((line) =>
    widths
      .map((each, index) => padded(keys[index] === true ? (line[index] ?? "") : shortened(line[index] ?? "", each), each))
      .join(" ".repeat(gap))
      .trimEnd()
  )
}
