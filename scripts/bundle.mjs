// Makes one file of each program that is started often: loading a thousand modules takes longer than anything the programs do at their start,
// and what they do not use of their libraries would stay in memory.
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { flagsOf } from "./flags.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

const programs = [
  { from: "packages/agent/dist/main.js", to: "packages/agent/dist/program.js" },
  // What workspaces on other machines download has to be one file
  { from: "packages/agent/dist/main.js", to: "packages/agent/dist/download.mjs", isSingle: true },
  { from: "packages/provisioner/dist/daemon/main.js", to: "packages/provisioner/dist/program.js" },
  // What is behind a look at the version of Node is a script of its own: V8 keeps the compiled code of scripts, and not of modules
  { from: "examples/standalone/dist/main.js", to: "examples/standalone/dist/program.js", isSingle: true, isLauncher: true },
  { from: "examples/standalone/dist/commands.js", to: "examples/standalone/dist/program-main.cjs", isScript: true }
]

/** Has a program load the script that holds its parts. */
const launcher = {
  name: "launcher",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/commands\.js$/ }, () => ({ path: join(root, "scripts/bundle/commands.mjs") }))
}

/**
 * Has our code import the modules of Effect, and not their index. What an index passes on as a namespace is an object for the bundler, of which it
 * keeps every function, and calls each through a getter.
 */
const effectModules = {
  name: "effect-modules",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/](?:packages|examples)[\\/][^\\/]+[\\/]dist[\\/].*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(/^import \{([^}]+)\} from "effect";$/gm, (_, names) =>
        names
          .split(",")
          .map((name) => name.trim().split(" as "))
          .map(([name, local = name]) =>
            /^[A-Z]/.test(name) ? `import * as ${local} from "effect/${name}";` : `import { ${name} as ${local} } from "effect/Function";`
          )
          .join(" ")
      ),
      resolveDir: dirname(path)
    }))
}

/** Compiled for the machine, or not installed at all. */
const external = ["@lydell/node-pty", "better-sqlite3", "@node-rs/argon2", "pg-native", "bufferutil", "utf-8-validate"]

/** Libraries in CommonJS ask for Node's modules in their own way. */
const banner = `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);`

/** Parts that a program loads by itself, such as after it has looked at the version of Node, and compiled code. */
const isPart = (name) => /^program-.*\.(?:js|cache)$/.test(name)

const bundle = async ({ from, isLauncher = false, isScript = false, isSingle = isScript, to }) => {
  const folder = dirname(to)
  const left = isSingle && !isScript ? [] : (await readdir(join(root, folder))).filter(isPart)
  for (const name of left) await rm(join(root, folder, name))
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [basename(to, extname(to))]: from },
    outExtension: { ".js": extname(to) },
    outdir: folder,
    chunkNames: "program-[name]-[hash]",
    splitting: !isSingle,
    bundle: true,
    platform: "node",
    format: isScript ? "cjs" : "esm",
    target: "node20.19",
    // V8 keeps the source in memory. Names stay, and lines are short enough for a stack to say where an error is
    minifyWhitespace: isScript,
    lineLimit: 160,
    external,
    ...(isScript ? { define: { "import.meta": "importMeta" } } : { banner: { js: banner } }),
    plugins: isLauncher ? [launcher] : [effectModules],
    metafile: true,
    logLevel: "warning",
    logOverride: { "empty-import-meta": "silent" }
  })
  const folders = Object.keys(metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  await writeFile(join(root, `${to.replace(/[cm]?js$/, "LICENSES.txt")}`), await licencesOf([...new Set(folders)].toSorted()))
}

/** What the libraries inside a bundle ask to be passed on with it. */
const licencesOf = async (folders) => {
  const texts = await Promise.all(
    folders.map(async (folder) => {
      const { license, name, version } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"))
      const files = (await readdir(join(root, folder))).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      const own = await Promise.all(files.map((file) => readFile(join(root, folder, file), "utf8")))
      return [`${name} ${version} (${license})`, ...own.map((text) => text.trim())].join("\n\n")
    })
  )
  return `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`
}

/** npm packs the licence of a package's own folder alone. */
const licence = async () => {
  const packages = (await readdir(join(root, "packages"))).map((name) => `packages/${name}`)
  for (const folder of [...packages, "examples/standalone"]) await copyFile(join(root, "LICENSE"), join(root, folder, "LICENSE"))
}

await licence()
// One after the other: both of the agent go into one folder, whose older parts are removed first
for (const program of programs) await bundle(program)
// A variable of the builder's could be one of the server's options
const variables = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SystemRoot", "TEMP"].filter((name) => name in process.env)
const env = Object.fromEntries(variables.map((name) => [name, process.env[name]]))
const warmUp = [join(root, "scripts/bundle/warmUp.mjs"), join(root, "examples/standalone/dist/program-main.cjs")]
// Code is good for the same flags alone: those of `npm start`, and none, as other programs start it
for (const flags of [flagsOf(new URL("../", import.meta.url)), []]) execFileSync(process.execPath, [...flags, ...warmUp], { env })
