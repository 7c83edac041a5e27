/** How parts of screens load. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const src = fileURLToPath(new URL("../src/", import.meta.url))

it("parts load by `lazyPart`: React's `lazy` never asks again for a file that failed once", () => {
  const files = readdirSync(src, { encoding: "utf8", recursive: true }).filter((file) => /\.tsx?$/.test(file) && file !== "app/lazy.ts")
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => /\blazy\(|\blazy\b[^;]*\bfrom "react"/.test(readFileSync(`${src}${file}`, "utf8")))).toStrictEqual([])
})
