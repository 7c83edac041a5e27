/** The marks of options that are accepted and do nothing, against the sources that read options. */
import { optionName } from "@atelier/core/deployment"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { definitions } from "../packages/atelier/src/Sources.js"

const root = fileURLToPath(new URL("../", import.meta.url))

/** What declares, checks or reports options does not act on them. */
const declaring =
  /\/deployment\/options\/(?:definitions|checks|report)\.ts$|atelier\/src\/definitions\.ts$|\/generated\/|^packages\/client\//

const sources = ["packages"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\/src\/.*\.ts$/.test(path) && !path.includes("node_modules/") && !declaring.test(path))
    .map((path) => readFileSync(join(root, path), "utf8"))
)

/** Words of the program that are also names of options that nothing reads. */
const homonyms: ReadonlySet<string> = new Set(["telemetry", "ephemeral"])

/** Whether a source reads the option: by its flag in quotes, or by its name as a property or a variable. */
const isRead = (flag: string): boolean => {
  if (homonyms.has(flag)) return false
  const name = new RegExp(`(?<![\\w"'\`/-])${optionName(flag)}\\b(?!["'])`)
  return sources.some((source) => source.includes(`"${flag}"`) || name.test(source))
}

it("an option is marked as unused exactly if no source reads it, nor the option that replaces it", () => {
  const used = new Set(Object.keys(definitions).filter(isRead))
  for (const [flag, { useInstead = [] }] of Object.entries(definitions)) if (useInstead.some((other) => used.has(other))) used.add(flag)
  const marked = Object.entries(definitions).filter(([, { unused }]) => unused === true)
  expect(marked.map(([flag]) => flag)).toStrictEqual(Object.keys(definitions).filter((flag) => !used.has(flag)))
})
