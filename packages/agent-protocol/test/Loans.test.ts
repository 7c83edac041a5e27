import { describe, expect, it } from "vitest"
import * as Loans from "../src/Loans.js"

/** Memory for a test. */
const taken = (): Uint8Array => {
  const bytes = Loans.take()
  if (bytes === undefined) throw new Error("No memory is to be had.")
  return bytes
}

describe("memory that is lent", () => {
  it("is lent again once all of it is given back", () => {
    const bytes = taken()
    Loans.lend(bytes, 100)
    Loans.giveBack(bytes.buffer, 60)
    const meanwhile = taken()
    expect(meanwhile.buffer).not.toBe(bytes.buffer)
    Loans.giveBack(bytes.buffer, 40)
    const again = taken()
    expect(again.buffer).toBe(bytes.buffer)
    Loans.lend(meanwhile, 0)
    Loans.lend(again, 0)
  })

  it("is never lent again if more is given back than was lent", () => {
    const bytes = taken()
    Loans.lend(bytes, 100)
    Loans.giveBack(bytes.buffer, 60)
    Loans.giveBack(bytes.buffer, 60)
    Loans.giveBack(bytes.buffer, 40)
    const others = [taken(), taken(), taken()]
    expect(others.map(({ buffer }) => buffer)).not.toContain(bytes.buffer)
    for (const other of others) Loans.lend(other, 0)
  })

  it("is not missed while it is read into, or for bytes of other memory", () => {
    const bytes = taken()
    Loans.giveBack(new Uint8Array(10).buffer, 10)
    const other = taken()
    expect(other.buffer).not.toBe(bytes.buffer)
    Loans.lend(bytes, 0)
    Loans.lend(other, 0)
  })

  it("is given to 64 reads at once, also after more was given back than was lent during a read", () => {
    const overdrawn = taken()
    Loans.giveBack(overdrawn.buffer, 1)
    Loans.lend(overdrawn, 1)
    const all: Array<Uint8Array> = []
    for (let bytes = Loans.take(); bytes !== undefined; bytes = Loans.take()) all.push(bytes)
    expect(all).toHaveLength(64)
    expect(all.map(({ buffer }) => buffer)).not.toContain(overdrawn.buffer)
    for (const bytes of all) Loans.lend(bytes, 0)
    const bytes = taken()
    Loans.lend(bytes, 0)
  })
})
