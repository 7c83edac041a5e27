/** Output of a process as lines: the last one of each channel may still grow. */

export type Channel = "stdout" | "stderr"

export interface OutputLine {
  readonly id: number
  readonly text: string
  readonly channel: Channel
}

/** Lines that are kept. */
const maximumLines = 20_000

/** Characters of a line without an end, above which it counts as one. */
const maximumLength = 20_000

export class OutputLines {
  private kept: Array<OutputLine> = []
  private next = 0
  private readonly decoders: Readonly<Record<Channel, TextDecoder>> = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  /** The id of the line that each channel has begun. */
  private readonly open: Record<Channel, number | undefined> = { stdout: undefined, stderr: undefined }

  /** The lines so far; another array after each change. */
  get lines(): ReadonlyArray<OutputLine> {
    return this.kept
  }

  push(channel: Channel, bytes: Uint8Array): void {
    const parts = this.decoders[channel].decode(bytes, { stream: true }).split("\n")
    const lines = [...this.kept]
    parts.forEach((part, index) => {
      if (index > 0) this.open[channel] = undefined
      // A line that has just begun is shown when it has a character
      if (part !== "" || index < parts.length - 1) this.append(lines, channel, part)
    })
    this.kept = lines.length > maximumLines ? lines.slice(-maximumLines) : lines
  }

  private append(lines: Array<OutputLine>, channel: Channel, text: string): void {
    const id = this.open[channel]
    const at = id === undefined ? -1 : lines.findLastIndex((line) => line.id === id)
    const begun = lines[at]
    if (begun === undefined || begun.text.length > maximumLength) {
      this.open[channel] = this.next
      lines.push({ id: this.next++, text, channel })
    } else lines[at] = { ...begun, text: `${begun.text}${text}` }
  }
}
