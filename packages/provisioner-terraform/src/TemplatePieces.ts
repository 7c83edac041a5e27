/** What templates are made of: texts, values and directives. */
import type { Expression } from "./Expressions.js"

/** Expressions in expressions. */
export const maximumDepth = 100

/** Where the pieces were read. */
interface Reading {
  /** Expressions around. */
  readonly depth: number
  /** Throws `HclError` with the line. */
  readonly fail: (cause: string) => never
}

export interface TextPiece {
  readonly kind: "text"
  text: string
}

export type Piece =
  | TextPiece
  | { readonly kind: "value"; readonly value: Expression }
  | { readonly kind: "if"; readonly condition: Expression }
  | { readonly kind: "for"; readonly keyName: string | undefined; readonly valueName: string; readonly collection: Expression }
  | { readonly kind: "else" | "endif" | "endfor" }

export const text = (value: string): Expression => ({ kind: "literal", value })

/** One interpolation alone has the value's own type. */
const templateOf = (parts: ReadonlyArray<Expression>): Expression => {
  const [only] = parts
  if (parts.length === 0) return text("")
  return parts.length === 1 && only !== undefined ? only : { kind: "template", parts }
}

/**
 * The pieces of a heredoc without the blanks that all its lines begin with. A line that is joined to the one before by `~` is no line of its
 * own, and one that begins with something else than text has no blanks.
 */
export const dedented = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const blanks = ({ text }: TextPiece): number => text.length - text.trimStart().length
  const beginning = new Set<Piece>()
  let indent = Number.MAX_SAFE_INTEGER
  let beginsLine = true
  for (const piece of pieces) {
    if (beginsLine && piece.kind !== "text") indent = 0
    if (piece.kind === "text") {
      const isBlank = piece.text.endsWith("\n") && piece.text.trim() === ""
      if (beginsLine && !isBlank) {
        beginning.add(piece)
        indent = Math.min(indent, blanks(piece))
      }
      beginsLine = piece.text.endsWith("\n")
    } else beginsLine = false
  }
  return pieces.map((piece) => (piece.kind === "text" && beginning.has(piece) ? { ...piece, text: piece.text.slice(indent) } : piece))
}

/** The pieces with texts that follow each other as one. */
export const merged = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const joined: Array<Piece> = []
  for (const piece of pieces) {
    const before = joined.at(-1)
    if (piece.kind === "text" && before?.kind === "text") joined[joined.length - 1] = { ...before, text: before.text + piece.text }
    else joined.push(piece)
  }
  return joined
}

/** The expression of a template's pieces, in which the directives stand in pairs. */
export const assembled = (pieces: ReadonlyArray<Piece>, { depth, fail }: Reading): Expression => {
  let at = 0
  let deep = depth
  const until = (...ends: ReadonlyArray<Piece["kind"]>): Expression => {
    if (++deep > maximumDepth) fail("directives are too deep in each other")
    const parts: Array<Expression> = []
    let hasDirective = false
    for (; ; at++) {
      const piece = pieces[at]
      if (piece === undefined) {
        if (ends.length > 0) fail(`the directive ${ends.join(" or ")} is missing`)
        break
      }
      if (ends.includes(piece.kind)) break
      if (piece.kind === "text") parts.push(text(piece.text))
      else if (piece.kind === "value") parts.push(piece.value)
      else {
        hasDirective = true
        if (piece.kind === "if") {
          at++
          const chosen = until("else", "endif")
          const hasElse = pieces[at]?.kind === "else"
          if (hasElse) at++
          const otherwise = hasElse ? until("endif") : text("")
          parts.push({ kind: "conditional", condition: piece.condition, chosen, otherwise })
        } else if (piece.kind === "for") {
          at++
          const value = until("endfor")
          const { collection, keyName, valueName } = piece
          parts.push({
            kind: "for",
            makes: "text",
            keyName,
            valueName,
            collection,
            key: undefined,
            value,
            condition: undefined,
            isGrouped: false
          })
        } else fail(`the directive ${piece.kind} closes none`)
      }
    }
    deep--
    return hasDirective || ends.length > 0 ? { kind: "template", parts } : templateOf(parts)
  }
  return until()
}
