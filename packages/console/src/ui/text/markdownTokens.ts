/** The parts of a text in Markdown. The author of a text may have written it to stop the parser. */
import { Lexer, type Token, type TokensList } from "marked"

/** Deeper nesting stays as it is written. */
export const maximumDepth = 24

/** Characters that the parser may look at, each time that it looks at them: texts nested within each other are read again and again. */
const maximumWork = 4_000_000

class TooMuchWork extends Error {
  override readonly name = "TooMuchWork"
}

/** The parser calls itself for each level of a text. */
class BoundedLexer extends Lexer {
  #depth = 0
  #work = 0

  #within<Tokens extends Array<Token>>(source: string, tokens: Tokens, read: () => Tokens): Tokens {
    this.#work += source.length
    if (this.#work > maximumWork) throw new TooMuchWork()
    if (this.#depth >= maximumDepth) {
      tokens.push({ type: "text", raw: source, text: source, escaped: false })
      return tokens
    }
    this.#depth += 1
    try {
      return read()
    } finally {
      this.#depth -= 1
    }
  }

  override blockTokens(source: string, tokens?: Array<Token>, isLastClipped?: boolean): Array<Token>
  override blockTokens(source: string, tokens?: TokensList, isLastClipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Array<Token> = [], isLastClipped = false): Array<Token> {
    return this.#within(source, tokens, () => super.blockTokens(source, tokens, isLastClipped))
  }

  override inlineTokens(source: string, tokens: Array<Token> = []): Array<Token> {
    return this.#within(source, tokens, () => super.inlineTokens(source, tokens))
  }
}

/** What editors of documentation put before a text for machines. */
const frontMatter = /^---\r?\n[\s\S]*?\r?\n---\r?\n/

/** The tree of a text; undefined for one that cannot be read within bounds, which is shown as it is written. */
export const tokensOf = (text: string): ReadonlyArray<Token> | undefined => {
  try {
    return new BoundedLexer({ gfm: true }).lex(text.replace(frontMatter, ""))
  } catch {
    // Too much work, or too deep for the stack
    return undefined
  }
}
