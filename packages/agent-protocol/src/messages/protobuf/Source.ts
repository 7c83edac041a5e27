import type { BinaryReader } from "@bufbuild/protobuf/wire"

/** Messages nested in each other, as other implementations accept by default. */
export const maximumDepth = 100

/** Repeated values, map entries and nested messages together: keeps a few megabytes of two-byte elements from becoming gigabytes of objects. */
export const maximumElements = 131_072

/**
 * Where a message is read from. `BinaryReader` reports malformed input by throwing, so the bounds checked here do the same;
 * `decode` is the only place that catches.
 */
export class Source {
  private depth = 0
  private elements = 0
  private end: number

  constructor(readonly reader: BinaryReader) {
    this.end = reader.len
  }

  /** Whether the message being read has further fields. */
  get more(): boolean {
    return this.reader.pos < this.end
  }

  /** Counts one more decoded element. */
  count(): void {
    this.elements += 1
    if (this.elements > maximumElements) throw new RangeError(`more than ${maximumElements} elements`)
  }

  /** Reads a length-delimited value that must end exactly where its length says, inside the message around it. */
  delimited<A>(body: () => A): A {
    const length = this.reader.uint32()
    const outer = this.end
    const end = this.reader.pos + length
    if (end > outer) throw new RangeError("a field is longer than its message")
    if (this.depth === maximumDepth) throw new RangeError(`nested deeper than ${maximumDepth} messages`)
    this.end = end
    this.depth += 1
    const value = body()
    if (this.reader.pos !== end) throw new RangeError("a field runs past the end of its message")
    this.end = outer
    this.depth -= 1
    return value
  }
}
