/** What differs between two sources. */
import { type Source, type SourceFile, textOf } from "./archive.js"

/** A line that both have, or one of them. */
export interface Line {
  readonly kind: "same" | "removed" | "added"
  readonly text: string
  /** The line's number in the text before; absent for added ones. */
  readonly before?: number
  /** The line's number in the text after; absent for removed ones. */
  readonly after?: number
}

/** Texts that differ in more lines are shown as replaced, because a search for the least difference would take too long. */
const maximumEdits = 1_000

/** The lines that only one text has, by Myers' algorithm: for each edit distance, how far each diagonal reaches. */
const edits = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Line["kind"]> => {
  const [rows, columns] = [before.length, after.length]
  const limit = Math.min(rows + columns, maximumEdits)
  const reach = new Int32Array(2 * limit + 3)
  const at = (diagonal: number): number => diagonal + limit + 1
  const trail: Array<Int32Array> = []
  const replaced = (): ReadonlyArray<Line["kind"]> => [...before.map(() => "removed" as const), ...after.map(() => "added" as const)]
  const goesDown = (values: Int32Array, distance: number, diagonal: number): boolean =>
    diagonal === -distance || (diagonal !== distance && (values[at(diagonal - 1)] ?? 0) < (values[at(diagonal + 1)] ?? 0))
  for (let distance = 0; distance <= limit; distance += 1) {
    // Only the diagonals of the steps before are looked at on the way back
    trail.push(reach.slice(at(-distance), at(distance) + 1))
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      let x = goesDown(reach, distance, diagonal) ? (reach[at(diagonal + 1)] ?? 0) : (reach[at(diagonal - 1)] ?? 0) + 1
      while (x < rows && x - diagonal < columns && before[x] === after[x - diagonal]) x += 1
      reach[at(diagonal)] = x
      if (x >= rows && x - diagonal >= columns) return traced(trail, rows, columns)
    }
  }
  return replaced()
}

/** Walks back from the end over what was reached at each distance. */
const traced = (trail: ReadonlyArray<Int32Array>, rows: number, columns: number): ReadonlyArray<Line["kind"]> => {
  const kinds: Array<Line["kind"]> = []
  let [x, y] = [rows, columns]
  for (let distance = trail.length - 1; distance > 0; distance -= 1) {
    const values = trail[distance]
    const valueOf = (diagonal: number): number => values?.[diagonal + distance] ?? 0
    const diagonal = x - y
    const isDown = diagonal === -distance || (diagonal !== distance && valueOf(diagonal - 1) < valueOf(diagonal + 1))
    const from = isDown ? diagonal + 1 : diagonal - 1
    const fromX = valueOf(from)
    const fromY = fromX - from
    while (x > fromX && y > fromY && x > 0 && y > 0 && x - 1 >= (isDown ? fromX : fromX + 1)) {
      kinds.push("same")
      x -= 1
      y -= 1
    }
    kinds.push(isDown ? "added" : "removed")
    x = fromX
    y = fromY
  }
  while (x > 0 && y > 0) {
    kinds.push("same")
    x -= 1
    y -= 1
  }
  return kinds.toReversed()
}

/** The lines of two texts, side by side: those of the one before, removed where the one after has them not, and added ones. */
export const compareLines = (before: string, after: string): ReadonlyArray<Line> => {
  const [old, next] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1
  let end = 0
  while (end < old.length - start && end < next.length - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end += 1
  const middle = edits(old.slice(start, old.length - end), next.slice(start, next.length - end))
  const kinds = [...Array.from({ length: start }, () => "same" as const), ...middle, ...Array.from({ length: end }, () => "same" as const)]
  let [x, y] = [0, 0]
  return kinds.map((kind): Line => {
    if (kind === "removed") return { kind, text: old[x] ?? "", before: ++x }
    if (kind === "added") return { kind, text: next[y] ?? "", after: ++y }
    return { kind, text: old[x] ?? "", before: ++x, after: ++y }
  })
}

const linesOf = (text: string): ReadonlyArray<string> => {
  if (text === "") return []
  const lines = text.split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

/** A part of a comparison: changes with some lines around them, or a gap of equal lines that are left out. */
export type Part =
  | { readonly kind: "lines"; readonly lines: ReadonlyArray<Line> }
  | { readonly kind: "gap"; readonly lines: ReadonlyArray<Line> }

const around = 3

/** Leaves out the equal lines that are far from a change. */
export const partsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Part> => {
  const isNear = new Uint8Array(lines.length)
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== "same") isNear.fill(1, Math.max(0, index - around), Math.min(lines.length, index + around + 1))
  }
  const parts: Array<{ kind: Part["kind"]; lines: Array<Line> }> = []
  for (const [index, line] of lines.entries()) {
    const kind = isNear[index] === 1 ? "lines" : "gap"
    const last = parts.at(-1)
    if (last?.kind === kind) last.lines.push(line)
    else parts.push({ kind, lines: [line] })
  }
  return parts
}

/** A row of two texts side by side. */
export interface Pair {
  readonly left: Line | undefined
  readonly right: Line | undefined
}

/** Puts removed lines beside the added ones that follow them. */
export const pairsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Pair> => {
  const pairs: Array<Pair> = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    if (line === undefined || line.kind === "same") {
      pairs.push({ left: line, right: line })
      at += 1
      continue
    }
    const changed = lines.slice(at, nextSame(lines, at))
    const removed = changed.filter(({ kind }) => kind === "removed")
    const added = changed.filter(({ kind }) => kind === "added")
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      pairs.push({ left: removed[index], right: added[index] })
    at += changed.length
  }
  return pairs
}

const nextSame = (lines: ReadonlyArray<Line>, from: number): number => {
  let at = from
  while (at < lines.length && lines[at]?.kind !== "same") at += 1
  return at
}

export interface FileChange {
  readonly path: string
  readonly kind: "added" | "removed" | "changed"
  readonly before: SourceFile | undefined
  readonly after: SourceFile | undefined
}

const isEqual = (one: SourceFile, other: SourceFile): boolean =>
  one.content === other.content
    ? one.mode === other.mode
    : one.mode === other.mode &&
      one.content.length === other.content.length &&
      one.content.every((byte, index) => byte === other.content[index])

/** The files that differ, by path. */
export const changesOf = (before: Source, after: Source): ReadonlyArray<FileChange> =>
  [...new Set([...before.files.keys(), ...after.files.keys()])].toSorted().flatMap((path): ReadonlyArray<FileChange> => {
    const [old, next] = [before.files.get(path), after.files.get(path)]
    if (old === undefined) return [{ path, kind: "added", before: old, after: next }]
    if (next === undefined) return [{ path, kind: "removed", before: old, after: next }]
    return isEqual(old, next) ? [] : [{ path, kind: "changed", before: old, after: next }]
  })

/** Larger files are not compared by line, in bytes. */
const maximumCompared = 1_000_000

/** The lines of a changed file, or the reason why it has no lines to show. */
export const linesOfChange = ({ after, before }: FileChange): ReadonlyArray<Line> | "large" | "binary" | "mode" => {
  if (Math.max(before?.content.length ?? 0, after?.content.length ?? 0) > maximumCompared) return "large"
  const [old, next] = [before, after].map((file) => (file === undefined ? "" : textOf(file.content)))
  if (old === undefined || next === undefined) return "binary"
  return old === next && before !== undefined && after !== undefined ? "mode" : compareLines(old, next)
}
