/** Bytes that are passed on from one stream to another. */
import type { DirectStream } from "@atelier/core/network"
import { describe, expect, it } from "vitest"
import { passOn } from "../../src/sockets/socketStream.js"

const ignore = (): void => undefined

/** A stream with these pieces, then with what `end` says. */
const source = (pieces: Array<Uint8Array>, end?: null | Error): DirectStream => ({
  take: () => pieces.shift() ?? end,
  put: ignore,
  finish: ignore
})

/** A stream that notes what is written to it. */
const sink = () => {
  const written: Array<string> = []
  const taken: Array<(error?: Error) => void> = []
  const left: Array<() => void> = []
  const stream: DirectStream = {
    take: () => undefined,
    put: (bytes, done, sent) => {
      written.push(Buffer.from(bytes).toString())
      taken.push(done)
      if (sent !== undefined) left.push(sent)
    },
    finish: () => void written.push("(end)")
  }
  return { left, stream, taken, written }
}

describe("what is passed on", () => {
  it("goes no faster than it is taken, and ends behind all bytes", () => {
    const { stream, taken, written } = sink()
    passOn(
      source([Buffer.from("a"), Buffer.from("b")], null),
      stream,
      () => expect.unreachable(),
      () => void written.push("over")
    )
    expect(written).toStrictEqual(["a"])
    taken.shift()?.()
    expect(written).toStrictEqual(["a", "b"])
    taken.shift()?.()
    expect(written).toStrictEqual(["a", "b", "(end)", "over"])
  })

  it("is told why it does not go on", () => {
    const [broken, refused] = [new Error("broken"), new Error("refused")]
    const ends: Array<Error> = []
    const over = (error: Error): void => void ends.push(error)
    passOn(source([], broken), sink().stream, over)
    const { stream, taken } = sink()
    passOn(source([Buffer.from("a")], null), stream, over)
    taken.shift()?.(refused)
    expect(ends).toStrictEqual([broken, refused])
  })
})
