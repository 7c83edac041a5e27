import { describe, expect, it } from "vitest"
import { decide, evaluate, listPredicate } from "../../src/access/index.js"
import { matrix } from "./matrix.js"
import { matrixSubject } from "./subjects.js"

describe("the decision", () => {
  it.each(matrix)("$n: $action on $object.type is allowed: $allowed ($why)", (row) => {
    expect(decide(matrixSubject(row), row.action, row.object)).toBe(row.allowed)
  })

  it.each(matrix.filter(({ object }) => !object.anyOrg))("$n: the list predicate says the same", (row) => {
    expect(evaluate(listPredicate(matrixSubject(row), row.action, row.object.type), row.object)).toBe(row.allowed)
  })
})
