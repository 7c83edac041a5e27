// Lists what each package exports, from its compiled declarations: `packages/NAME/api.txt`. A test compares them, so that a public name
// comes and goes on purpose. `npm run api` writes them after `npm run build`.
import { existsSync } from "node:fs"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const declared = /^export (?:declare )?(?:abstract )?(const|let|function|class|interface|type|enum|namespace) (\w+)/gm
const forwarded = /^export (type )?(?:\{([^}]*)\}|\*(?: as (\w+))?) from "(\.[^"]*)";/gm
const local = /^export (type )?\{([^}]*)\};/gm

/** The names of `{ a, type b, c as d }`, as they are seen outside. */
const namesOf = (list) =>
  list
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => /(\w+)$/.exec(each)?.[1])

/** What a declaration file exports: names with their kinds, as `const make`; those of a namespace follow its name. */
export const exportsOf = async (file) => {
  const text = await readFile(file, "utf8")
  const found = new Map()
  const add = (name, kind) => found.set(name, new Set([...(found.get(name) ?? []), kind]))
  for (const [, kind, name] of text.matchAll(declared)) add(name, kind)
  for (const [, , list] of text.matchAll(local)) for (const name of namesOf(list)) add(name, "name")
  for (const [, , list, namespace, target] of text.matchAll(forwarded)) {
    const inner = await exportsOf(join(dirname(file), target.replace(/\.js$/, ".d.ts")))
    if (list !== undefined) {
      for (const each of list.split(",").map((one) => one.trim())) {
        const [, from, to = from] = /^(?:type )?(\w+)(?: as (\w+))?$/.exec(each) ?? []
        if (from !== undefined) for (const kind of inner.get(from) ?? ["name"]) add(to, kind)
      }
    } else for (const [name, kinds] of inner) for (const kind of kinds) add(namespace === undefined ? name : `${namespace}.${name}`, kind)
  }
  return found
}

/** The entry points of a package: their names for importers, and their declaration files. */
const entriesOf = async (folder, { exports, name }) => {
  const entries = []
  for (const [path, conditions] of Object.entries(exports)) {
    if (typeof conditions === "string") continue
    const [before, after] = conditions.types.split("*")
    if (after === undefined) entries.push([join(name, path), conditions.types])
    else {
      const [parent, prefix] = [dirname(`${before}x`), before.slice(dirname(`${before}x`).length + 1)]
      for (const each of await readdir(join(folder, parent))) {
        const word = each.startsWith(prefix) ? each.slice(prefix.length).replace(/\.d\.ts$/, "") : ""
        const file = `${before}${word}${after}`
        // An area that is gone may have left its declarations
        const source = join(folder, file.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts"))
        if (/^\w+$/.test(word) && existsSync(join(folder, file)) && existsSync(source))
          entries.push([join(name, path.replace("*", word)), file])
      }
    }
  }
  return entries.toSorted()
}

/** The report of a package. */
export const reportOf = async (name) => {
  const folder = join(root, "packages", name)
  const lines = []
  for (const [entry, file] of await entriesOf(folder, JSON.parse(await readFile(join(folder, "package.json"), "utf8")))) {
    lines.push(entry)
    const found = await exportsOf(join(folder, file))
    for (const [exported, kinds] of [...found].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      lines.push(`  ${exported}: ${[...kinds].toSorted().join(", ")}`)
    }
  }
  return `${lines.join("\n")}\n`
}

/** Those that others import. */
export const packages = (await readdir(join(root, "packages"))).filter((name) => name !== "simulation").toSorted()

/** The file of a package's report. */
export const reportFile = (name) => join(root, "packages", name, "api.txt")

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of packages) await writeFile(reportFile(name), await reportOf(name))
}
