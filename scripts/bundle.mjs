// Makes one file of each program that is started often: loading a thousand modules takes longer than anything the programs do at their start,
// and what they do not use of their libraries would stay in memory.
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { split } from "./bundle/split.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

const programs = [
  { from: "packages/agent/dist/main.js", to: "packages/agent/dist/program.js" },
  // What workspaces on other machines download has to be one file
  { from: "packages/agent/dist/main.js", to: "packages/agent/dist/download.mjs", isSingle: true },
  { from: "examples/standalone/dist/main.js", to: "examples/standalone/dist/program.js", isSingle: true, isLauncher: true }
]

/** What is behind a look at the version of Node is in scripts of their own: V8 keeps the compiled code of scripts, and not of modules. */
const standalone = {
  from: "examples/standalone/dist/commands.js",
  to: "examples/standalone/dist/program-main.cjs",
  starts: [
    "examples/standalone/dist/run.js",
    "examples/standalone/dist/serve.js",
    "packages/storage-postgres/dist/index.js",
    "packages/storage-sqlite/dist/index.js"
  ]
}

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
const isPart = (name) => /^program-.*\.(?:cjs|js|cache)$/.test(name)

const removeParts = async (folder) => {
  const left = (await readdir(join(root, folder))).filter(isPart)
  for (const name of left) await rm(join(root, folder, name))
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  // Lines are short enough for a stack to say where an error is
  lineLimit: 160,
  define: {
    // The WebSockets' library looks for others, which are not installed
    "process.env.WS_NO_BUFFER_UTIL": '"1"',
    "process.env.WS_NO_UTF_8_VALIDATE": '"1"'
  },
  external,
  logLevel: "warning"
}

const bundle = async ({ from, isLauncher = false, isSingle = false, to }) => {
  const folder = dirname(to)
  if (!isSingle) await removeParts(folder)
  const { metafile } = await build({
    ...common,
    entryPoints: { [basename(to, extname(to))]: from },
    outExtension: { ".js": extname(to) },
    outdir: folder,
    chunkNames: "program-[name]-[hash]",
    splitting: !isSingle,
    format: "esm",
    banner: { js: banner },
    plugins: isLauncher ? [launcher] : [effectModules],
    metafile: true
  })
  await writeLicences(to, metafile.inputs)
}

const bundleScripts = async ({ from, starts, to }) => {
  const folder = dirname(to)
  await removeParts(folder)
  const options = {
    ...common,
    // V8 keeps the source in memory. Names stay for stacks
    minifyWhitespace: true,
    define: { ...common.define, "import.meta": "importMeta" },
    plugins: [effectModules],
    logOverride: { "empty-import-meta": "silent" }
  }
  const { inputs, scripts } = await split({ from, main: basename(to), options, starts })
  for (const [name, text] of scripts) await writeFile(join(root, folder, name), text)
  await writeLicences(to, inputs)
}

const writeLicences = async (to, inputs) => {
  const folders = Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
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
await bundleScripts(standalone)
// A variable of the builder's could be one of the server's options
const variables = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SystemRoot", "TEMP"].filter((name) => name in process.env)
const env = Object.fromEntries(variables.map((name) => [name, process.env[name]]))
const warmUp = [join(root, "scripts/bundle/warmUp.mjs"), join(root, "examples/standalone/dist/program-main.cjs")]
// Code is good for the same flags alone: the program sets back that of `npm start`
execFileSync(process.execPath, warmUp, { env })
