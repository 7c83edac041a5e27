import { describe, expect, it } from "@effect/vitest"
import { type Bagged, Bag } from "@atelier/core/platform"
import * as fc from "fast-check"

const anItem = (name: number): Bagged & { readonly name: number } => ({ name, place: -1 })

describe("a bag", () => {
  it("contains the items that were added and not deleted, as a Set does", () => {
    const steps = fc.array(fc.record({ adds: fc.boolean(), name: fc.nat(9) }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, (steps) => {
        const items = Array.from({ length: 10 }, (_, name) => anItem(name))
        const bag = new Bag<Bagged & { readonly name: number }>()
        const model = new Set<number>()
        for (const { adds, name } of steps) {
          const item = items[name] ?? anItem(name)
          if (!adds) expect(bag.delete(item)).toBe(model.delete(name))
          else if (!model.has(name)) {
            bag.add(item)
            model.add(name)
          }
          expect(Array.from(bag, ({ name }) => name).toSorted()).toStrictEqual([...model].toSorted())
          expect(bag.size).toBe(model.size)
        }
      })
    )
  })

  it("does not delete an item of another collection", () => {
    const [here, there] = [new Bag(), new Bag()]
    const item = anItem(0)
    there.add(anItem(1))
    here.add(item)
    expect(there.delete(item)).toBe(false)
    expect([here.size, there.size]).toStrictEqual([1, 1])
  })
})
