/** What the style sheets of the console may not have. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const folder = fileURLToPath(new URL("../src", import.meta.url))

it("no rule is about any element beside another: each menu and tooltip would style the whole page again", () => {
  const sheets = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".css"))
  expect(sheets.length).toBeGreaterThan(20)
  const found = sheets.flatMap(
    (path) =>
      readFileSync(`${folder}/${path}`, "utf8")
        .replaceAll(/\/\*.*?\*\//gs, "")
        // The last part of a selector names neither a class nor an element
        .match(/[^{},]*[+~]\s*(?:\*|:)[^\s{},]*\s*(?=[{,])/g)
        ?.map((selector) => `${path}: ${selector.trim()}`) ?? []
  )
  expect(found).toStrictEqual([])
})
