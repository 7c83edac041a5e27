// Bundles the programs, and keeps the code that V8 compiles for the standalone server. The programs have a thousand modules, mostly of Effect, which are
// slow to load one by one. Processor time until the standalone server's first answer, on an existing SQLite database with Node 20, and resident memory
// when it is idle (medians of five starts in turns):
//
//   modules                     2.50 s   161 MiB
//   one script                  0.85 s   131 MiB
//   with its compiled code      0.54 s   122 MiB
//   with V8's flags for the start (packages/atelier/src/startFlags.ts), and with libraries that an idle server does not use in scripts of their own:
//                               0.52 s    99 MiB
//
// The launcher of the server is a script too, which loads Node's own modules once V8 takes their compiled code: on a faster day, 0.40 s instead of 0.45 s. With
// modules that are evaluated with their first use (lazyModules.mjs), which a half of the server's own 1,982 need not be for a start, it takes 0.65 s instead of
// 0.74 s beside other work, in turns. The first hundred requests then take 0.59 s, as before, and no request takes longer once its code is compiled. A young
// generation that grows at once saves the collections and pays as much for new pages, and 50 MiB.
//
// The agent takes 0.17 s and 60 MiB instead of 0.78 s and 104 MiB. With its compiled code it takes 0.03 s less until it runs: warmUpAgent.mjs keeps the
// code that a start uses. Left out: scripts of their own for all that is loaded later, which gain 0.01 s; short names of variables, which gain 0.003 s and
// make stacks unreadable; declarations of names that one module alone uses inside of that module, which gain 0.005 s; and a snapshot of the heap
// (`--build-snapshot`). One of all pure modules is restored in 0.08 s, where their evaluation takes 0.13 s. But no Node can have node:http in one, Node 20 makes it
// without newer methods of arrays, Node 22 aborts while it writes it, and a Node that is started with the flag of a snapshot does not run without a file that fits it.
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { chmod, copyFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { withLazyModules } from "./lazyModules.mjs"
import { libraryFolders, licensesOf } from "./licenses.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))

/**
 * Has our code import the modules of Effect, and not their index. The bundler keeps every function of a namespace that an index passes on: 14 MiB of each agent.
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

/**
 * Tells Effect how V8 names functions. It would look at the stack of an error otherwise, for which V8 parses much of the script again. Throws if this version
 * of Effect looks elsewhere.
 */
const withoutStack = {
  name: "without-stack",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]effect[\\/]dist[\\/]esm[\\/]Utils\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, "utf8")
      const known = contents.replace(/(const isNotOptimizedAway = ).*;/, "$1true;")
      if (known === contents) throw new Error(`${path} looks for its names elsewhere`)
      return { contents: known }
    })
}

/** Libraries in CommonJS ask for Node's modules in their own way. */
const banner = `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);`

/** Libraries for SSH name their folder while they are loaded. */
const folderBanner = `import { dirname as bundleDirname } from "node:path"; import { fileURLToPath as bundlePath } from "node:url"; const __dirname = bundleDirname(bundlePath(import.meta.url));`

const asModule = { format: "esm", banner: { js: banner }, plugins: [effectModules] }

/** V8 keeps the compiled code of scripts, and not of modules. It keeps the source in memory. */
const asScript = {
  format: "cjs",
  plugins: [effectModules, withoutStack],
  minifyWhitespace: true,
  supported: { "dynamic-import": false },
  define: { "import.meta": "importMeta" },
  logOverride: { "empty-import-meta": "silent" }
}

/** A script that `load.mjs` runs, with the function around it. */
const asLoaded = {
  ...asScript,
  banner: { js: "(function (module, exports, require, importMeta) {" },
  footer: { js: "})" }
}

/** The launcher of a program that starts often: Node takes 7 ms of processor time to make its loader of modules, which a script does without. */
const asLauncher = {
  format: "cjs",
  supported: { "dynamic-import": false },
  banner: { js: `const importMeta = { url: require("node:url").pathToFileURL(__filename).href };` },
  define: { "import.meta": "importMeta" }
}

/** Has a launcher load the script in the place of a module, once it has looked at the version of Node. */
const launcher = (module) => ({
  name: "launcher",
  setup: ({ onResolve }) => {
    const path = join(root, `scripts/bundle/${module}.mjs`)
    onResolve({ filter: new RegExp(`^\\./${module}\\.js$`) }, () => ({ path }))
  }
})

/** Has the program load the command line from beside it. As a dependency it would take the program's name: npm links both under it. */
const commandLine = {
  name: "command-line",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^@atelier\/cli$/ }, () => ({ path: "./own/cli/dist/program-run.js", external: true }))
  }
}

/** Has our code find the files of packages beside the program. */
const ownFilesBeside = {
  name: "own-files",
  setup: ({ onResolve }) => {
    const path = join(root, "scripts/bundle/nodeModule.mjs")
    onResolve({ filter: /^node:module$/ }, ({ importer }) =>
      /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/]/.test(importer) ? { path } : undefined
    )
  }
}

/**
 * What an idle server does not use, and what shares no module with the rest: a script's source stays in memory. The clients of Docker and Kubernetes have 60
 * MiB of files. A server needs 2 of them.
 */
const parts = [
  // Without a module around it: its class would be the default of the default
  { name: "dockerode", of: /[\\/]provisioner-docker[\\/]dist[\\/]/, module: "dockerode", from: "dockerode" },
  {
    name: "kubernetes",
    of: /[\\/]provisioner-kubernetes[\\/]dist[\\/]/,
    module: "@kubernetes/client-node",
    from: "scripts/bundle/kubernetes.mjs"
  },
  { name: "ssh", of: /[\\/]http[\\/]dist[\\/]ssh[\\/]/, module: "./server.js", from: "packages/http/dist/ssh/server.js" },
  { name: "answer", of: /[\\/]mcp[\\/]dist[\\/]index\.js$/, module: "./answer.js", from: "packages/mcp/dist/answer.js" },
  ...["asn1js", "nodemailer"].map((name) => ({ name, of: /[\\/]packages[\\/]node[\\/]/, module: name, from: name }))
]

/** What an agent without connections of SSH does not use, which is as much code as a fifth of it. */
const agentParts = {
  name: "agent-parts",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/server\.js$/ }, ({ importer }) =>
      /[\\/]agent[\\/]dist[\\/]ssh[\\/]/.test(importer) ? { path: "./program-ssh.cjs", external: true } : undefined
    )
  }
}

/** Has the server load the library of patterns with the first one: its tables are a twentieth of all that a start would load. */
const patternsLater = {
  name: "patterns-later",
  setup: ({ onResolve }) => {
    const path = join(root, "scripts/bundle/re2js.mjs")
    onResolve({ filter: /^re2js$/ }, ({ kind }) => (kind === "import-statement" ? { path } : undefined))
  }
}

const partOf = (name) => `program-${name}.cjs`

const programParts = {
  name: "parts",
  setup: ({ onResolve }) => {
    for (const { module, name, of } of parts) {
      onResolve({ filter: new RegExp(`^${module}$`) }, ({ importer }) =>
        of.test(importer) ? { path: `./${partOf(name)}`, external: true } : undefined
      )
    }
  }
}

const script = "packages/atelier/dist/program-main.cjs"
const agentScript = "packages/agent/dist/program-run.cjs"

const programs = [
  { from: "packages/agent/dist/main.js", to: "packages/agent/dist/program.cjs", options: { ...asLauncher, plugins: [launcher("run")] } },
  { from: "packages/agent/dist/run.js", to: agentScript, options: { ...asLoaded, plugins: [...asScript.plugins, agentParts] } },
  { from: "packages/agent/dist/ssh/server.js", to: "packages/agent/dist/program-ssh.cjs", options: asScript },
  // What workspaces on other machines download has to be one file
  {
    from: "packages/agent/dist/main.js",
    to: "packages/agent/dist/download.mjs",
    options: { ...asModule, banner: { js: `${banner} ${folderBanner}` }, minifyWhitespace: true }
  },
  {
    from: "packages/atelier/dist/main.js",
    to: "packages/atelier/dist/program.cjs",
    // The command line is a module
    options: { ...asLauncher, supported: {}, plugins: [launcher("commands"), commandLine] }
  },
  {
    from: "packages/atelier/dist/commands.js",
    to: script,
    isLazy: true,
    options: { ...asLoaded, plugins: [...asScript.plugins, programParts, patternsLater, ownFilesBeside] }
  },
  {
    // The program, and what other programs import: both load what a command needs with its first use
    from: { program: "packages/cli/dist/main.js", "program-run": "packages/cli/dist/index.js" },
    to: "packages/cli/dist/program.js",
    options: { ...asModule, plugins: [], splitting: true, chunkNames: "program-[name]-[hash]", minifyWhitespace: true }
  },
  ...parts.map(({ from, name }) => ({
    from,
    to: `packages/atelier/dist/${partOf(name)}`,
    options: { format: "cjs", minifyWhitespace: true, plugins: [effectModules], supported: { "dynamic-import": false } }
  }))
]

/** Compiled for the machine, or not installed at all. */
const external = [
  "@lydell/node-pty",
  "better-sqlite3",
  "@node-rs/argon2",
  "cpu-features",
  "pg-native",
  "bufferutil",
  "utf-8-validate",
  "*.node"
]

/** The scripts that programs load, and compiled code. */
const isPart = (name) => /^program-.*\.(?:cjs|js|cache)$/.test(name)

const removeParts = async (folder) => {
  const left = (await readdir(join(root, folder))).filter(isPart)
  for (const name of left) await rm(join(root, folder, name))
}

const bundle = async ({ from, isLazy = false, options, to }) => {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    entryPoints: typeof from === "string" ? { [basename(to, extname(to))]: from } : from,
    outExtension: { ".js": extname(to) },
    outdir: dirname(to),
    // Lines are short enough for a stack to say where an error is
    lineLimit: 160,
    external,
    logLevel: "warning",
    metafile: true,
    ...options
  })
  if (isLazy) await rewrite(to, (source) => withLazyModules(source, (path) => path.startsWith("packages/")))
  await writeLicenses(to, metafile.inputs)
}

const rewrite = async (file, change) => writeFile(join(root, file), change(await readFile(join(root, file), "utf8")))

const writeLicenses = async (to, inputs) => {
  const folders = libraryFolders(Object.keys(inputs)).map((folder) => join(root, folder))
  await writeFile(join(root, `${to.replace(/[cm]?js$/, "LICENSES.txt")}`), await licensesOf(folders))
}

/** The folder with the files of packages that the server has beside it. `ownFiles.mjs` finds them. */
const own = join(root, "packages/atelier/dist/own")

const copiedWhole = [
  ["packages/console/dist/site", "console/dist/site"],
  ["packages/http/browser", "http/browser"],
  ["packages/templates/starters", "templates/starters"],
  ["packages/templates/modules", "templates/modules"]
]

/** Packages whose folder the program finds by their manifest. What it says of modules would be of no use here. */
const manifests = [
  ["packages/cli", "cli"],
  ["packages/console", "console"],
  ["packages/http", "http"],
  ["packages/templates", "templates"]
]

const copyOwnFiles = async () => {
  for (const [name, to] of [
    ["agent", "agent"],
    ["cli", "cli/dist"]
  ]) {
    const dist = join(root, "packages", name, "dist")
    const programs = (await readdir(dist)).filter((file) => /^(?:program|download)[.-](?!.*\.map$)/.test(file))
    for (const file of programs) await cp(join(dist, file), join(own, to, file))
  }
  for (const [from, to] of copiedWhole) await cp(join(root, from), join(own, to), { recursive: true })
  for (const [from, to] of manifests) {
    const { engines, license, name, type, version } = JSON.parse(await readFile(join(root, from, "package.json"), "utf8"))
    await writeFile(join(own, to, "package.json"), `${JSON.stringify({ name, version, license, type, engines }, null, 2)}\n`)
  }
}

/** npm packs the license of a package's own folder alone. */
const license = async () => {
  const packages = (await readdir(join(root, "packages"))).map((name) => `packages/${name}`)
  for (const folder of packages) await copyFile(join(root, "LICENSE"), join(root, folder, "LICENSE"))
}

await license()
// A program that is no bundle: npm and others take its mode along
await chmod(join(root, "packages/provisioner/dist/daemon/main.js"), 0o755)
for (const folder of new Set(programs.map(({ to }) => dirname(to)))) await removeParts(folder)
await rm(own, { recursive: true, force: true })
for (const program of programs) await bundle(program)
// The declarations of the agent's module are those of a module, and the launcher is a script
await writeFile(join(root, "packages/agent/dist/program.d.cts"), "export {}\n")
// A variable of the builder's could be one of the server's options
const variables = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SystemRoot", "TEMP"].filter((name) => name in process.env)
const env = Object.fromEntries(variables.map((name) => [name, process.env[name]]))
execFileSync(process.execPath, [join(root, "scripts/bundle/warmUpAgent.mjs"), join(root, agentScript)], {
  env,
  stdio: ["ignore", "ignore", "inherit"]
})
await copyOwnFiles()
execFileSync(process.execPath, [join(root, "scripts/bundle/warmUp.mjs"), join(root, script)], { env })
