/** The generated sources are committed, so that a change of the contract shows what it changes for clients. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { folders, generate } from "../../../scripts/client/generate.js"
import { describedIn } from "../../../test/description/description.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The names and docstrings of the functions of a generated module. */
const functionsIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^(?:\/\*\*\n((?: \*.*\n)*) \*\/\n)?export const (\w+) = \(/gm)].map(([, docs = "", name = ""]) => [name, docs])
  )

describe("the generated client", () => {
  const files = generate()

  it("is what the contract generates: `npm run generate` renews it", () => {
    const committed = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    expect(committed.toSorted()).toStrictEqual([...files.keys()].toSorted())
    expect(committed.filter((path) => readFileSync(join(root, path), "utf8") !== files.get(path))).toStrictEqual([])
  })

  it("is the same each time it is generated", () => {
    expect([...generate()]).toStrictEqual([...files])
  })

  it("returns undefined where an operation may succeed without content", () => {
    const text = files.get("packages/client/src/generated/templateVersions.ts") ?? ""
    expect(/export const getPreviousTemplateVersion = .*/.exec(text)?.[0]).toContain("Promise<TemplateVersion | undefined>")
  })

  it("has a function with a docstring for each operation", () => {
    // The routes of the authorization server are for clients of its protocol
    const operations = Object.entries(describedIn("standard").paths)
      .filter(([path]) => path.startsWith("/api/") || path.startsWith("/scim/"))
      .flatMap(([, methods]) => Object.values(methods))
    const named = operations.map((operation) => ("operationId" in operation ? String(operation.operationId) : ""))
    const withoutFunction = named.filter((id) => {
      const [area = "", name = ""] = id.split(".")
      const functions = functionsIn(files.get(`packages/client/src/generated/${area}.ts`) ?? "")
      return !functions.has(name) && !functions.has(`${name}Address`)
    })
    expect(withoutFunction).toStrictEqual([])
    const undocumented = [...files].flatMap(([path, text]) =>
      [...functionsIn(text)].filter(([, docs]) => !/ \* \w.*\.\n/.test(docs) || !docs.includes("`")).map(([name]) => `${path}: ${name}`)
    )
    expect(undocumented).toStrictEqual([])
  })
})
