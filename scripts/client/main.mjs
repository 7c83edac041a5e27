// Generates sources of the clients from the contract. It reads the TypeScript sources, so it needs no build before it.
import { build } from "esbuild"
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const generator = join(root, "node_modules/.cache/atelier/generate.mjs")

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ["scripts/client/generate.ts"],
  bundle: true,
  write: false,
  platform: "node",
  format: "esm",
  conditions: ["atelier-source"],
  plugins: [
    {
      name: "libraries",
      setup: ({ onResolve }) =>
        // The packages of this repository are bundled; their libraries are loaded as they are
        onResolve({ filter: /^[^.]/ }, ({ kind, path }) =>
          kind === "entry-point" || path.startsWith("@atelier/") ? undefined : { path, external: true }
        )
    }
  ]
})
await mkdir(dirname(generator), { recursive: true })
await writeFile(generator, outputFiles[0].contents)
const { folders, generate } = await import(pathToFileURL(generator).href)

const files = generate()
/** Writes only what has changed, so that the compiler builds nothing again without need. */
const write = async ([path, text]) => {
  const before = await readFile(join(root, path), "utf8").catch(() => undefined)
  if (before === text) return 0
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
  return 1
}
const written = await Promise.all([...files].map(write))
for (const folder of folders) {
  for (const name of await readdir(join(root, folder))) {
    const path = join(root, folder, name)
    if (!files.has(relative(root, path).replaceAll("\\", "/"))) await rm(path)
  }
}
console.log(`Generated ${files.size} files of the clients, ${written.reduce((sum, one) => sum + one, 0)} of them changed.`)
