/** Characters (code points) the server stores of a line (agents-and-apps.md §5). */
const maximumCharacters = 1024

/** UTF-16 units that are enough for one character more than the server stores. */
const maximumUnits = 2 * maximumCharacters + 2

/** Ends a line that was cut. */
const ellipsis = "…"

const cut = (line: string): string => {
  if (line.length <= maximumCharacters) return line
  const characters = Array.from(line)
  return characters.length <= maximumCharacters ? line : characters.slice(0, maximumCharacters - 1).join("") + ellipsis
}

/**
 * Turns a script's output into lines. Characters may be spread over chunks; bytes that are not UTF-8, and NUL, become U+FFFD; lines longer than the
 * server stores are cut. No more than one such line is held.
 */
export class Lines {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  private unfinished = ""

  constructor(private readonly onLine: (line: string) => void) {}

  add(chunk: Uint8Array): void {
    this.addText(this.decoder.decode(chunk, { stream: true }))
  }

  /** The output has ended: text without a line end is a line too. */
  end(): void {
    this.addText(this.decoder.decode())
    if (this.unfinished !== "") this.finish()
  }

  private addText(text: string): void {
    let from = 0
    for (let to = text.indexOf("\n"); to !== -1; to = text.indexOf("\n", from)) {
      this.append(text.slice(from, to))
      this.finish()
      from = to + 1
    }
    this.append(text.slice(from))
  }

  private append(text: string): void {
    // A held line of this many units already exceeds the stored length.
    if (this.unfinished.length < maximumUnits) this.unfinished += text.slice(0, maximumUnits - this.unfinished.length)
  }

  private finish(): void {
    const line = this.unfinished
    this.unfinished = ""
    this.onLine(cut((line.endsWith("\r") ? line.slice(0, -1) : line).replaceAll("\0", "\uFFFD")))
  }
}
