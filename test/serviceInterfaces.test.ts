/** What a service of the core offers is written down: its tag names an interface, whose methods carry the docstrings. */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const source = fileURLToPath(new URL("../packages/core/src", import.meta.url))

const files = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name))

it("each service of the core that has a layer declares its interface", () => {
  const services = files.flatMap((file) => {
    const text = readFileSync(file, "utf8")
    const tags = text.matchAll(/export class (\w+) extends Context\.Tag\([^)]*\)<\s*\w+,\s*([^>{]+)/g)
    return Array.from(tags, ([, name = "", shape = ""]) => ({ name, shape: shape.trim(), file: relative(source, file), text }))
  })
  expect(services.length).toBeGreaterThan(200)
  const inferred = services.filter(({ shape }) => shape.includes("typeof"))
  expect(inferred.map(({ file, name }) => `${file}: ${name}`)).toStrictEqual([])
})
