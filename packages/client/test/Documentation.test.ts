/** The code on the client's page: each block is a part of an example, which the compiler checks. */
import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

const root = new URL("../../../", import.meta.url)
const folder = new URL("examples/client/test/documentation/", root)

/** A text without its indentation and line breaks, which formatting decides. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

it("the page's code is compiled", () => {
  const page = readFileSync(new URL("docs/client.md", root), "utf8")
  const blocks = Array.from(page.matchAll(/^```ts\n(.*?)^```/gms), ([, block = ""]) => flat(block))
  const examples = readdirSync(folder).map((name) => flat(readFileSync(new URL(name, folder), "utf8")))
  expect(blocks.length).toBe(examples.length)
  expect(blocks.filter((block) => !examples.some((example) => example.startsWith(block)))).toStrictEqual([])
})
