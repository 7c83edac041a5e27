import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { Version } from "@atelier/agent-protocol"

describe("the version of the agents' interface", () => {
  for (const minor of [0, 1, 9, 10, 11])
    it(`is served as 2.${minor}`, () => {
      expect(Version.negotiate(`2.${minor}`)).toStrictEqual(Either.right({ major: 2, minor }))
    })

  for (const version of [
    "2.12",
    "1.0",
    "3.0",
    "99.0",
    "2",
    "2.",
    ".0",
    "",
    "2.0.0",
    "2.-1",
    " 2.0",
    "2.0 ",
    "two.zero",
    "2.0x",
    `2.${"0".repeat(400)}`
  ])
    it(`is refused as ${JSON.stringify(version).slice(0, 20)}`, () => {
      const error = Either.getOrThrow(Either.flip(Version.negotiate(version)))
      expect(error).toMatchObject({ version, message: "Unknown or unsupported API version" })
    })

  it("left out is 2.0 for agents and a refused one for coordination", () => {
    expect(Either.isRight(Version.negotiate(Version.rpcDefault))).toBe(true)
    expect(Either.isRight(Version.negotiate(Version.coordinateDefault))).toBe(false)
  })

  it("reads what it writes", () => {
    expect(Version.negotiate(Version.format(Version.current))).toStrictEqual(Either.right(Version.current))
  })
})
