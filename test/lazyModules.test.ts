/** Modules of the bundled server are evaluated with their first use. */
import { build } from "esbuild"
import { runInThisContext } from "node:vm"
import { expect, it } from "vitest"
import { withLazyModules } from "../scripts/bundle/lazyModules.mjs"

/** The script that esbuild makes of modules. It exports `run` of the module `main`. */
const bundled = async (modules: Readonly<Record<string, string>>): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: `export const run = async () => (await import("main")).run()` },
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    minifyWhitespace: true,
    supported: { "dynamic-import": false },
    banner: { js: "(function (module, note) {" },
    footer: { js: "})" },
    plugins: [
      {
        name: "modules",
        setup: ({ onLoad, onResolve }) => {
          onResolve({ filter: /^\w+$/ }, ({ path }) => ({ path, namespace: "test" }))
          onLoad({ filter: /.*/, namespace: "test" }, ({ path }) => ({
            contents: `${modules[path] ?? ""}\nexport const _${path} = note("${path}")`
          }))
        }
      }
    ]
  })
  return outputFiles[0]?.text ?? ""
}

/** What `run` returns, and the modules in the order of their evaluation. */
const ran = async (modules: Readonly<Record<string, string>>) => {
  const evaluated: Array<string> = []
  const module: { exports: { run?: () => Promise<unknown> } } = { exports: {} }
  const script: unknown = runInThisContext(withLazyModules(await bundled(modules), (path) => !path.endsWith("library")))
  if (typeof script === "function") Reflect.apply(script, undefined, [module, (name: string) => evaluated.push(name)])
  return { result: await module.exports.run?.(), evaluated }
}

it("a module is evaluated with the first use of one of its names", async () => {
  const modules = {
    main: `import { used, unused } from "index"; export const run = () => { note("run"); return [used(), () => unused] .length }`,
    index: `export * from "one"; export * from "two"`,
    one: `export function used() { return value } const value = 1`,
    two: `export const unused = 2`
  }
  expect(await ran(modules)).toStrictEqual({ result: 2, evaluated: ["main", "run", "one"] })
})

it("names are found in every place that uses them", async () => {
  const modules = {
    main: `
      import { Base, key, plain, tag, tree } from "names"
      import * as names from "names"
      class Derived extends Base { [key] = plain; key = 1 }
      export const run = () => {
        const { [key]: field = plain } = { plain }
        const { deep: { plain: inner } = {} } = tree
        return [new Derived().name, new Derived()[key], { plain, tree: tree.plain }, tag\`\${plain}\`, names.plain, field, inner, names.tree.key, typeof plain]
      }`,
    names: `
      export class Base { name = "base" }
      export const key = "a", plain = 3, tag = (_, value) => value, tree = { plain: 4, key: 5, deep: { plain: 6 } }`
  }
  const { evaluated, result } = await ran(modules)
  expect(result).toStrictEqual(["base", 3, { plain: 3, tree: 4 }, 3, 3, 3, 6, 5, "number"])
  expect(evaluated).toStrictEqual(["names", "main"])
})

it("modules that import each other see the values of each other", async () => {
  const modules = {
    main: `import { even } from "even"; export const run = () => even(5)`,
    even: `import { odd } from "odd"; export const even = (n) => n === 0 || odd(n - 1)`,
    odd: `import { even } from "even"; export const odd = (n) => n !== 0 && even(n - 1)`
  }
  expect(await ran(modules)).toStrictEqual({ result: false, evaluated: ["main", "even", "odd"] })
})

it("a module whose evaluation fails says so with each use", async () => {
  const modules = {
    main: `
      import { value } from "broken"
      const tried = () => { try { return value } catch (error) { return error.message } }
      export const run = () => [tried(), tried()]`,
    broken: `export const value = (() => { throw new Error("broken") })()`
  }
  expect(await ran(modules)).toStrictEqual({ result: ["broken", "broken"], evaluated: ["main"] })
})

it("modules of libraries are evaluated with those that import them", async () => {
  const modules = {
    main: `import { value } from "user"; export const run = () => { note("run"); return value }`,
    user: `import { of } from "library"; export const value = of(7)`,
    library: `export const of = (value) => value`
  }
  expect(await ran(modules)).toStrictEqual({ result: 7, evaluated: ["main", "run", "library", "user"] })
})

it("a module that changes more than its own names is refused", async () => {
  const script = await bundled({ main: `globalThis.changed = 1; export const run = () => 1` })
  expect(() => withLazyModules(script, () => true)).toThrow("main does more than to give its names values: globalThis.changed=1;")
})
