/** What a browser loads of the built console stays small. Run `npm run build` first. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"

const site = new URL("../dist/site/", import.meta.url)
const kilobyte = 1_000
const maximumFirst = 160 * kilobyte
const maximumScreen = 40 * kilobyte
const maximumPlot = 30 * kilobyte

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: ReadonlyArray<string>
  readonly dynamicImports?: ReadonlyArray<string>
}

const manifest: Readonly<Record<string, Chunk>> = JSON.parse(readFileSync(new URL("manifest.json", site), "utf8"))

/** A chunk and what it needs before it runs. */
const closureOf = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const next of manifest[name]?.imports ?? []) closureOf(next, seen)
  return seen
}

const sizeOf = (name: string): number =>
  gzipSync(readFileSync(fileURLToPath(new URL(manifest[name]?.file ?? "", site))), { level: 9 }).length

const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? ""
const first = closureOf(entry)

/** The menus of the frame load with every screen, beside it. */
const frame = new Set([...first, ...closureOf("src/app/SidebarMenus.tsx")])
const sum = (names: Iterable<string>): number => [...names].reduce((total, name) => total + sizeOf(name), 0)

describe("the compressed JavaScript", () => {
  it("of the first load is at most 160 kB", () => {
    expect(sum(first)).toBeLessThanOrEqual(maximumFirst)
  })

  it("of the frame's menus is at most 40 kB more", () => {
    expect(sum([...frame].filter((each) => !first.has(each)))).toBeLessThanOrEqual(maximumScreen)
  })

  it("of the library that draws charts is at most 30 kB", () => {
    expect(sizeOf("src/ui/charts/ChartPlot.tsx")).toBeLessThanOrEqual(maximumPlot)
  })

  const screens = Object.keys(manifest).filter(
    (name) => name.startsWith("src/screens/") && manifest[name]?.isEntry !== true && !frame.has(name)
  )

  it.each(screens)("of %s is at most 40 kB more", (name) => {
    expect(sum([...closureOf(name)].filter((each) => !frame.has(each)))).toBeLessThanOrEqual(maximumScreen)
  })
})
