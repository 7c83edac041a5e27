import { describe, expect, it } from "@effect/vitest"
import { Either, Option } from "effect"
import * as fc from "fast-check"
import { Pty } from "@atelier/agent-protocol"
import { codePoint } from "../../../test/records/codePoint.js"
import { cut } from "./Chunks.js"

const init: Pty.Init = {
  ID: "0190b7c4-6d2e-7f00-8000-000000000001",
  Height: 24,
  Width: 80,
  Command: "",
  Container: "",
  ContainerUser: "",
  BackendType: ""
}

const utf8 = (text: string) => new TextEncoder().encode(text)

const uint16 = fc.integer({ min: 0, max: 0xffff })

const request = fc.record(
  { data: fc.string({ unit: codePoint }), height: uint16, width: uint16 },
  { requiredKeys: [], noNullPrototype: true }
)

const decodeAll = (chunks: ReadonlyArray<Uint8Array>) => {
  const decoder = new Pty.RequestDecoder()
  return chunks.flatMap((chunk) => decoder.decode(chunk)).map(Either.getOrElse((error) => error.message))
}

describe("the description of a terminal", () => {
  it("is JSON behind its length as 16 bits, little-endian", () => {
    const bytes = Either.getOrThrow(Pty.encodeInit(init))
    const json = JSON.stringify(init)
    expect(bytes[0]).toBe(json.length)
    expect(bytes[1]).toBe(0)
    expect(new TextDecoder().decode(bytes.subarray(2))).toBe(json)
  })

  it("is decoded from any chunks, with the rest left over", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 })
    fc.assert(
      fc.property(text, fc.uint8Array(), fc.array(fc.nat()), (Command, behind, cuts) => {
        const described = { ...init, Command }
        const bytes = Uint8Array.from([...Either.getOrThrow(Pty.encodeInit(described)), ...behind])
        const decoder = new Pty.InitDecoder()
        let found: { readonly init: Pty.Init; readonly rest: Uint8Array } | undefined
        for (const chunk of cut(bytes, cuts)) {
          if (found === undefined) found = Option.getOrUndefined(Either.getOrThrow(decoder.decode(chunk)))
          else found = { ...found, rest: Uint8Array.from([...found.rest, ...chunk]) }
        }
        expect(found?.init).toStrictEqual(described)
        expect([...(found?.rest ?? [])]).toStrictEqual([...behind])
      })
    )
  })

  it("is refused when it is too long to be announced, or no description", () => {
    expect(Either.isLeft(Pty.encodeInit({ ...init, Command: "x".repeat(0xffff) }))).toBe(true)
    expect(Either.isLeft(new Pty.InitDecoder().decode(new Uint8Array([2, 0, 0x7b, 0x7d])))).toBe(true)
    expect(Either.isLeft(new Pty.InitDecoder().decode(new Uint8Array([1, 0, 0x7b])))).toBe(true)
  })

  it("survives any bytes", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => Either.isEither(new Pty.InitDecoder().decode(bytes))))
  })
})

describe("terminal requests", () => {
  it("are decoded from any chunks", () => {
    fc.assert(
      fc.property(fc.array(request), fc.array(fc.nat()), (requests, cuts) => {
        const bytes = Uint8Array.from(requests.flatMap((one) => [...Pty.encodeRequest(one)]))
        const wellFormed = requests.map((one): Pty.Request => JSON.parse(new TextDecoder().decode(Pty.encodeRequest(one))))
        expect(decodeAll(cut(bytes, cuts))).toStrictEqual(wellFormed)
      })
    )
  })

  it("are decoded or refused for any bytes in any chunks", () => {
    const bytes = fc.oneof(fc.uint8Array(), fc.string({ unit: fc.constantFrom(...'{}[]"\\,: a1') }).map(utf8))
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (input, cuts) => {
        expect(decodeAll(cut(input, cuts))).toStrictEqual(decodeAll([input]))
      })
    )
  })

  it("may have space between them, and braces and quotes in the input", () => {
    expect(decodeAll([utf8(' {"data":"}{\\"\\\\"}\n\t{"height":1,"width":2}\r\n')])).toStrictEqual([
      { data: '}{"\\' },
      { height: 1, width: 2 }
    ])
  })

  it("read a null like a field left out, and ignore others", () => {
    expect(decodeAll([utf8('{"data":null,"height":null,"else":[{"data":"x"}]}')])).toStrictEqual([{}])
  })

  for (const wrong of ['{"data":1}', '{"height":65536}', '{"width":-1}', '{"height":1.5}', "{nonsense}"])
    it(`are refused as ${wrong}`, () => {
      expect(new Pty.RequestDecoder().decode(utf8(wrong)).map(Either.isLeft)).toStrictEqual([true])
    })

  it("are refused when they are not objects or too long", () => {
    expect(decodeAll([utf8('[1]{"data":"x"}')])).toStrictEqual(["A request is a JSON object"])
    const decoder = new Pty.RequestDecoder()
    const part = utf8(`{"data":"${"x".repeat(Pty.maximumRequestBytes / 2)}`)
    expect(decoder.decode(part)).toStrictEqual([])
    expect(decoder.decode(part.fill(0x78)).map(Either.isLeft)).toStrictEqual([true])
    expect(decoder.decode(utf8('"}{"data":"x"}'))).toStrictEqual([])
  })
})
