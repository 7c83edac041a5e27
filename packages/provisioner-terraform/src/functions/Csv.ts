/** Reads CSV. */
import { refuse } from "../EvaluationError.js"
import type { Value } from "../Values.js"
import type { Work } from "../Work.js"

/** Reads a field at a place; answers what it holds and the place behind it. */
const csvField = (source: string, from: number): readonly [text: string, end: number] => {
  if (source[from] !== '"') {
    const bare = /[^,\n]*/y
    bare.lastIndex = from
    const [text = ""] = bare.exec(source) ?? []
    return [text, from + text.length]
  }
  const parts: Array<string> = []
  for (let at = from + 1; ;) {
    const quote = source.indexOf('"', at)
    if (quote < 0) return refuse("a quoted field has no end")
    parts.push(source.slice(at, quote))
    if (source[quote + 1] !== '"') return [parts.join('"'), quote + 1]
    at = quote + 2
  }
}

/** Steps for each row beside those for its fields. */
const stepsOfRow = 3

const csvRows = (source: string, work: Work): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  for (let at = 0; at < source.length;) {
    const row: Array<string> = []
    for (let isMore = true; isMore;) {
      const [text, end] = csvField(source, at)
      row.push(text)
      isMore = source[end] === ","
      if (!isMore && end < source.length && source[end] !== "\n") return refuse("a quoted field goes on behind its end")
      at = end + 1
    }
    work.step(stepsOfRow + row.length)
    if (row.length > 1 || row[0] !== "") rows.push(row)
  }
  return rows
}

/** The rows as maps, named by the first row. Throws `EvaluationError`. */
export const decodeCsv = (source: string, work: Work): Value => {
  const [head = [], ...body] = csvRows(source.replaceAll("\r\n", "\n"), work)
  return body.map((row) =>
    row.length === head.length ? new Map(head.map((name, index) => [name, row[index] ?? ""])) : refuse("the rows have different lengths")
  )
}
