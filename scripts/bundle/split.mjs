// Bundles a program that starts often as one script for its start, and one for each part that it loads later.
import { build, transform } from "esbuild"
import { basename, dirname, extname } from "node:path"

/** How parts refer to each other. */
const nameOf = (path) => `./${basename(path)}`

/** The parts with what they import. */
const withImports = (outputs, parts) => {
  const found = new Set()
  const visit = (path) => {
    if (found.has(path)) return
    found.add(path)
    for (const { external, kind, path: imported } of outputs[path].imports) if (kind === "import-statement" && !external) visit(imported)
  }
  parts.forEach(visit)
  return found
}

/** How the bundler writes an import of a part: `import{a as b,c}from"./part.cjs";` or `import"./part.cjs";`. */
const imports = /\bimport\s*(?:\{([^}]*)\}\s*from\s*)?"(\.\/[^"]+)";?/g

const namesIn = (list = "") => list.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim().split(" as ")]))

/**
 * An imported name becomes a constant, which V8 reads as fast as one of the same script. Parts import each other in no cycle, because the bundler puts
 * modules that do into one part, and none of our modules changes a variable that it exports.
 */
const asConstants = (text, isPart) =>
  text.replace(imports, (statement, list, from) => {
    if (!isPart(from)) return statement
    const names = namesIn(list).map(([name, local = name]) => `${name}:${local}`)
    return names.length === 0 ? `require(${JSON.stringify(from)});` : `const{${names.join(",")}}=require(${JSON.stringify(from)});`
  })

/**
 * Bundles the module `from`. First the bundler splits the program into parts, each of which is flat code without the functions that no other code
 * uses. Then the parts that run at each start become one script, since V8 keeps compiled code by scripts: those of `from` and the modules `starts`
 * with what they import. The script `main` exports what `from` does, and `parts`: what the later parts import from it.
 *
 * Answers the texts of the scripts by their names, and the sources of them all.
 */
export const split = async ({ from, main, options, starts }) => {
  const { metafile, outputFiles } = await build({
    ...options,
    entryPoints: [from],
    outdir: dirname(from),
    outExtension: { ".js": extname(main) },
    chunkNames: "program-[name]-[hash]",
    splitting: true,
    format: "esm",
    write: false,
    metafile: true
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [nameOf(path), text]))
  const [program, ...more] = [from, ...starts].map((module) =>
    Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint === module)
  )
  const ofStart = new Set([...withImports(metafile.outputs, [program, ...more])].map(nameOf))
  const later = [...texts.keys()].filter((name) => !ofStart.has(name))

  /** What later parts import from each part of the start. */
  const shared = new Map()
  for (const name of later) {
    for (const [, list, from] of texts.get(name).matchAll(imports)) {
      if (ofStart.has(from)) shared.set(from, new Set([...(shared.get(from) ?? []), ...namesIn(list).map(([name]) => name)]))
    }
  }
  for (const [path, { exports }] of Object.entries(metafile.outputs)) {
    const isLoaded = later.some((name) => texts.get(name).includes(`import("${nameOf(path)}")`))
    if (isLoaded && ofStart.has(nameOf(path))) shared.set(nameOf(path), new Set(exports))
  }

  const parts = {
    name: "parts",
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^shared:/ }, ({ path }) => ({ path: path.slice("shared:".length), namespace: "shared" }))
      onResolve({ filter: /^\.\// }, ({ path }) => (ofStart.has(path) ? { path, namespace: "parts" } : { path, external: true }))
      onLoad({ filter: /^/, namespace: "parts" }, ({ path }) => ({ contents: texts.get(path) }))
      onLoad({ filter: /^/, namespace: "shared" }, ({ path }) => {
        const names = [...shared.get(path)].join(", ")
        return { contents: `import { ${names} } from ${JSON.stringify(path)}; export const shared = { ${names} }` }
      })
    }
  }
  const entries = [...shared.keys()].map((name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(`shared:${name}`)}).shared`)
  const entry = `export * from ${JSON.stringify(nameOf(program))}; export const parts = { ${entries.join(", ")} }`
  // A script loads parts by a function that stands for `require`, also where it imports them
  const format = { format: "cjs", supported: { "dynamic-import": false }, logLevel: "error" }
  const script = await build({ ...options, ...format, plugins: [parts], stdin: { contents: entry }, outfile: main, write: false })
  const scripts = new Map([[main, script.outputFiles[0].text]])
  const { lineLimit, minifyWhitespace, target } = options
  for (const name of later) {
    const { code } = await transform(
      asConstants(texts.get(name), (from) => texts.has(from)),
      { ...format, lineLimit, minifyWhitespace, target }
    )
    scripts.set(basename(name), code)
  }
  return { scripts, inputs: metafile.inputs }
}
