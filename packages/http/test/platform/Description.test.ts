import { describe as suite, expect, it } from "vitest"
import { namesOf } from "../../src/Brand.js"
import { Contract } from "../../src/contract/Contract.js"
import { describe } from "../../src/swagger/describe.js"

const described = describe(Contract, { names: namesOf(), version: "v1.2.3", wire: "seeds" })
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ operation: `${method.toUpperCase()} ${path}`, ...operation }))
)

suite("the description of the whole interface", () => {
  it("says of each operation what it does", () => {
    const silent = operations.filter(({ description, summary }) => !summary || !description?.endsWith("."))
    expect(silent.map(({ operation }) => operation)).toEqual([])
  })

  it("gives each operation a summary of its own", () => {
    const summaries = operations.map(({ summary }) => summary)
    expect(summaries.filter((summary, index) => summaries.indexOf(summary) !== index)).toEqual([])
  })

  it("says what each group of operations is about", () => {
    expect(described.tags.filter(({ description }) => !description)).toEqual([])
  })
})
