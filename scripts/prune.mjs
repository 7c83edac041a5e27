// Removes what the compiler wrote for sources that are gone: it leaves such files in place, and an import of one would go on working on this machine alone.
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url))

const foldersOf = (path) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [])

/** Removes a folder that is empty, and those around it that are so afterwards. */
const removeEmpty = (folder) => {
  if (readdirSync(folder).length > 0) return
  rmdirSync(folder)
  removeEmpty(dirname(folder))
}

for (const folder of [...foldersOf(join(root, "packages")), ...foldersOf(join(root, "examples"))]) {
  const dist = join(folder, "dist")
  if (!existsSync(dist)) continue
  // A bundle has no declarations
  const declared = readdirSync(dist, { recursive: true }).flatMap((name) => /^(.*)\.d\.ts$/.exec(name)?.[1] ?? [])
  for (const name of declared) {
    if (existsSync(join(folder, "src", `${name}.ts`))) continue
    for (const ending of [".js", ".js.map", ".d.ts", ".d.ts.map"]) rmSync(join(dist, `${name}${ending}`), { force: true })
    removeEmpty(dirname(join(dist, name)))
  }
}
