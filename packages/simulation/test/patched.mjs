/** Bundles the simulation with a patch of the sources. */
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The sources that a patch changes, by their paths, as they are with it. */
const patchedBy = (patch) => {
  const folder = mkdtempSync(join(tmpdir(), "atelier-patch-"))
  try {
    const paths = Array.from(readFileSync(patch, "utf8").matchAll(/^--- a\/(.*)$/gm), ([, path]) => path)
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      cpSync(join(root, path), join(folder, path))
    }
    execFileSync("git", ["apply", patch], { cwd: folder, env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) } })
    return new Map(paths.map((path) => [join(root, path), readFileSync(join(folder, path), "utf8")]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Bundles a module with a patch into a file, which has to lie where its dependencies are found. Without a name the module is the simulation. */
export const bundlePatched = async (patch, outfile, entry = "packages/simulation/src/index.ts") => {
  const sources = patchedBy(patch)
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["atelier-source"],
    logLevel: "error",
    plugins: [
      {
        name: "patched",
        setup: ({ onLoad, onResolve }) => {
          // Libraries are those that the process has loaded: to bundle and compile them again takes longer than the search
          onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith("@atelier/") ? undefined : { path, external: true }))
          onLoad({ filter: /\/packages\/.*\.ts$/ }, ({ path }) => {
            const contents = sources.get(path)
            return contents === undefined ? undefined : { contents, loader: "ts" }
          })
        }
      }
    ]
  })
}
