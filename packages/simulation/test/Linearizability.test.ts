import * as fc from "fast-check"
import { describe, expect, it } from "@effect/vitest"
import { type Model, type Operation, unplaced } from "../src/index.js"

/** A register: `write` answers "done", `read` answers the value, and `swap` whether the value was the expected one. */
type Input = readonly ["read"] | readonly ["write", number] | readonly ["swap", number, number]

const register: Model<number, Input, string> = {
  initial: 0,
  next: (value, input, output) => {
    switch (input[0]) {
      case "read":
        return output === undefined || output === String(value) ? [value] : []
      case "write":
        return [input[1]]
      case "swap": {
        const isExpected = value === input[1]
        return output === undefined || output === String(isExpected) ? [isExpected ? input[2] : value] : []
      }
    }
  }
}

const op = (begin: number, end: number, input: Input, output?: string): Operation<Input, string> => ({ begin, end, input, output })

describe("a history is linearizable", () => {
  it.each([
    ["one that is empty", []],
    ["a read beside a write that shows the old value", [op(0, 5, ["write", 1], "done"), op(1, 2, ["read"], "0")]],
    ["a read beside a write that shows the new value", [op(0, 5, ["write", 1], "done"), op(1, 2, ["read"], "1")]],
    ["a write without an answer that is seen late", [op(0, 1, ["write", 1]), op(2, 3, ["read"], "0"), op(8, 9, ["read"], "1")]],
    ["a write without an answer that is never seen", [op(0, 1, ["write", 1]), op(2, 3, ["read"], "0")]],
    ["one of two swaps at once", [op(0, 3, ["swap", 0, 1], "true"), op(0, 3, ["swap", 0, 2], "false"), op(4, 5, ["read"], "1")]]
  ])("%s", (_, history) => {
    expect(unplaced(register, history)).toBeUndefined()
  })
})

describe("a history is not linearizable", () => {
  it.each([
    ["a lost write", [op(0, 1, ["write", 1], "done"), op(2, 3, ["read"], "0")]],
    ["two reads that show a write and then not", [op(0, 9, ["write", 1], "done"), op(1, 2, ["read"], "1"), op(3, 4, ["read"], "0")]],
    ["a write without an answer that is undone", [op(0, 1, ["write", 1]), op(2, 3, ["read"], "1"), op(4, 5, ["read"], "0")]],
    ["an effect before its begin", [op(0, 1, ["read"], "1"), op(2, 3, ["write", 1], "done")]],
    ["two swaps of the same value", [op(0, 3, ["swap", 0, 1], "true"), op(0, 3, ["swap", 0, 2], "true")]],
    ["a swap that is refused although it was done", [op(0, 1, ["swap", 0, 1], "false"), op(2, 3, ["read"], "1")]]
  ])("%s", (_, history) => {
    expect(unplaced(register, history)).not.toBeUndefined()
  })
})

const inputs = fc.oneof(
  fc.constant(["read"] as const),
  fc.tuple(fc.constant("write" as const), fc.nat(2)),
  fc.tuple(fc.constant("swap" as const), fc.nat(2), fc.nat(2))
)

/** Operations that took effect one at a time, each at its number, with begins and ends around it. */
const histories = fc
  .array(fc.record({ input: inputs, before: fc.nat(4), after: fc.nat(4), isLost: fc.integer({ min: 0, max: 5 }).map((n) => n === 0) }), {
    maxLength: 25
  })
  .map((made) => {
    let value = 0
    return made.map(({ after, before, input, isLost }, at): Operation<Input, string> => {
      const output = input[0] === "read" ? String(value) : input[0] === "write" ? "done" : String(value === input[1])
      value = register.next(value, input, output)[0] ?? value
      return op(at - before, at + after, input, isLost ? undefined : output)
    })
  })

it("each history of a sequence of operations is linearizable", () => {
  fc.assert(fc.property(histories, (history) => unplaced(register, history) === undefined))
})

it("a read of a value that no operation leaves is found in each history", () => {
  fc.assert(
    fc.property(histories, fc.nat(30), (history, at) => {
      expect(unplaced(register, [...history, op(at, at + 1, ["read"], "7")])).not.toBeUndefined()
    })
  )
})

it("a history of sixty operations at once is searched in time", () => {
  const history = Array.from({ length: 60 }, (_, at) =>
    op(0, 100, at % 2 === 0 ? ["write", at % 6] : ["read"], at % 2 === 0 ? "done" : "2")
  )
  expect(unplaced(register, history)).toBeUndefined()
})
