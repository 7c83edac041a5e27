import type { CharacterClass } from "./CharacterClass.js"

/** What has to hold between two characters. */
export type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "boundary" | "noBoundary"

/** What a pattern says. */
export type PatternTree =
  | { readonly _tag: "Character"; readonly accepts: CharacterClass }
  | { readonly _tag: "Assertion"; readonly assertion: Assertion }
  | { readonly _tag: "Sequence"; readonly parts: ReadonlyArray<PatternTree> }
  | { readonly _tag: "Choice"; readonly options: ReadonlyArray<PatternTree> }
  | { readonly _tag: "Repeat"; readonly part: PatternTree; readonly minimum: number; readonly maximum: number }
