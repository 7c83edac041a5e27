/** What an application bundles of the client: a call and no more, without a module of Node. */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { sqlite } from "../../../test/store/databases.js"
import { startServer } from "../../../test/http/server.js"

/** Bytes of one call with all that it needs, compressed. */
const maximumOfOneCall = 12 * 1024

/** Bytes of the object that sandboxes are, with all that it needs, compressed. */
const maximumOfSandbox = 16 * 1024

const root = fileURLToPath(new URL("../../..", import.meta.url))

const bundle = async (program: string, globalName?: string) => {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    platform: "browser",
    conditions: ["atelier-source"],
    target: "es2022",
    ...(globalName === undefined ? { format: "esm" as const } : { format: "iife" as const, globalName })
  })
  return { text: outputFiles[0]?.text ?? "", inputs: Object.keys(metafile.inputs) }
}

/** An area by its own path, which every bundler reduces to the operations that are called. */
const oneCall = `
import { createClient } from "@atelier/client"
import * as users from "@atelier/client/users"
export const me = (baseUrl, token) => users.getUser(createClient({ baseUrl, token }), { user: "me" })
`

/** A bundler without code splitting includes what sandboxes load at their first use. */
const noCall = `
import { createClient } from "@atelier/client"
export const run = async (baseUrl, token) => (await createClient({ baseUrl, token }).sandboxes.create({ template: "shell" })).exec("true")
`

const pathsIn = (text: string) => new Set(text.match(/\/api\/v2\/[\w/{}-]+/g) ?? [])

describe("a bundle of sandboxes", () => {
  it("has at most 16 kB, compressed", async () => {
    const { text } = await bundle(noCall)
    expect(text).toContain("/api/v2/workspaceagents/{workspaceagent}/exec")
    expect(gzipSync(text).length).toBeLessThanOrEqual(maximumOfSandbox)
  })
})

describe("a bundle of one call", () => {
  it("has at most 12 kB, compressed", async () => {
    const { text } = await bundle(oneCall)
    expect(gzipSync(text).length).toBeLessThanOrEqual(maximumOfOneCall)
  })

  it("has no other operations than those of sandboxes", async () => {
    const sandboxes = pathsIn((await bundle(noCall)).text)
    expect(Array.from(pathsIn((await bundle(oneCall)).text)).filter((path) => !sandboxes.has(path))).toStrictEqual(["/api/v2/users/{user}"])
  })

  it("has no other area if it imports the area from the package itself", async () => {
    const { text } = await bundle(oneCall.replace(/createClient \}.*\n.*/, 'createClient, users } from "@atelier/client"'))
    const sandboxes = pathsIn((await bundle(noCall)).text)
    const paths = Array.from(pathsIn(text)).filter((path) => !sandboxes.has(path))
    expect(paths).toContain("/api/v2/users/{user}")
    expect(paths.filter((path) => !path.startsWith("/api/v2/users"))).toStrictEqual([])
    expect(gzipSync(text).length).toBeLessThanOrEqual(maximumOfOneCall)
  })

  it("has only files of the client", async () => {
    const { inputs } = await bundle(oneCall)
    expect(inputs.filter((path) => !path.startsWith("packages/client/src/") && path !== "<stdin>")).toStrictEqual([])
  })

  it("runs where there is nothing but what browsers have", async () => {
    const server = await startServer(sqlite)
    try {
      const { text } = await bundle(oneCall, "application")
      const browser = createContext({ fetch, URL, URLSearchParams, Response, Blob, Uint8Array, AbortController, AbortSignal })
      runInContext(text, browser)
      const me: Promise<unknown> = runInContext(
        `application.me(${JSON.stringify(server.url)}, ${JSON.stringify(server.owner().token)})`,
        browser
      )
      expect(await me).toMatchObject({ username: "owner" })
    } finally {
      await server.close()
    }
  })
})
