/** Colours for the language of Terraform. */
import type { StreamParser } from "@codemirror/language"

interface State {
  /** The word that ends a text of several lines. */
  readonly heredoc: string | undefined
  readonly isComment: boolean
}

/** What the last token decided of the next ones. */
type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }

export const hcl: StreamParser<State> = {
  name: "hcl",
  languageData: { commentTokens: { line: "#", block: { open: "/*", close: "*/" } } },
  startState: () => ({ heredoc: undefined, isComment: false }),
  copyState: (state) => ({ ...state }),
  token: (stream, given) => {
    // The parser's contract: tokens change the state in place
    const state = given as Mutable<State>
    if (state.isComment) {
      if (stream.skipTo("*/")) {
        stream.match("*/")
        state.isComment = false
      } else stream.skipToEnd()
      return "comment"
    }
    if (state.heredoc !== undefined) {
      if (stream.string.trim() === state.heredoc) state.heredoc = undefined
      stream.skipToEnd()
      return "string"
    }
    if (stream.eatSpace()) return null
    if (stream.match(/^(?:#|\/\/).*/)) return "comment"
    if (stream.match("/*")) {
      state.isComment = true
      return "comment"
    }
    const heredoc = stream.match(/^<<[-~]?([A-Za-z_][\w-]*)\s*$/)
    if (Array.isArray(heredoc)) {
      state.heredoc = heredoc[1]
      return "string"
    }
    if (stream.match(/^"(?:\\.|[^"\\])*"?/)) return "string"
    if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number"
    if (stream.match(/^(?:true|false|null)\b/)) return "atom"
    if (stream.match(/^(?:for|in|if|else|endif|endfor|each|self|var|local|data|module|path|terraform|count)\b/)) return "keyword"
    // The name of a block, of an argument, or of a function
    if (stream.match(/^[A-Za-z_][\w-]*(?=\s*=[^=>])/)) return "propertyName"
    if (stream.sol() || /^\s*$/.test(stream.string.slice(0, stream.pos))) {
      if (stream.match(/^[A-Za-z_][\w-]*(?=\s*(?:"|\{))/)) return "keyword"
    }
    if (stream.match(/^[A-Za-z_][\w-]*(?=\()/)) return "variableName.function"
    if (stream.match(/^[A-Za-z_][\w-]*/)) return "variableName"
    if (stream.match(/^(?:[=!<>]=?|&&|\|\||[-+*/%?:])/)) return "operator"
    stream.next()
    return null
  }
}
