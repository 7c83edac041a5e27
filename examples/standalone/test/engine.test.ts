import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"

const engine = new URL("../dist/engine.js", import.meta.url).href

/** Makes objects that are kept for a while, and prints the young generation's megabytes in the start and after it. */
const program = `
  import { getHeapSpaceStatistics } from "node:v8"
  import { begin, end } from ${JSON.stringify(engine)}
  const size = () => {
    let kept = []
    for (let number = 0; number < 2_000_000; number++) {
      kept.push({ number })
      if (kept.length > 100_000) kept = []
    }
    return Math.round(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").physical_space_size / 2 ** 20)
  }
  begin()
  const during = size()
  end()
  console.log(JSON.stringify({ during, afterwards: size() }))
`

const sizes = (...flags: ReadonlyArray<string>): { readonly during: number; readonly afterwards: number } =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", program], {
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" }
    })
  )

describe("V8 while the server starts", () => {
  it("has a small young generation, which grows afterwards", () => {
    const { afterwards, during } = sizes()
    expect(during).toBeLessThanOrEqual(4)
    expect(afterwards).toBeGreaterThanOrEqual(8)
  })

  it("keeps a small one with the size of `npm start`", () => {
    const { afterwards, during } = sizes("--max-semi-space-size=32")
    expect(during).toBeLessThanOrEqual(4)
    expect(afterwards).toBeGreaterThanOrEqual(8)
  })

  it("leaves what an operator chooses as it is", () => {
    expect(sizes("--semi-space-growth-factor=4").during).toBeGreaterThanOrEqual(8)
  })
})
