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

describe("a bundle of one call", () => {
  it("has at most 12 kB, compressed", async () => {
    const { text } = await bundle(oneCall)
    expect(gzipSync(text).length).toBeLessThanOrEqual(maximumOfOneCall)
  })

  it("has neither the other operations nor streams", async () => {
    const { text } = await bundle(oneCall)
    expect(text).toContain("/api/v2/users/{user}")
    expect(text.match(/\/api\/v2\/[\w/{}-]+/g)).toStrictEqual(["/api/v2/users/{user}"])
    expect(text).not.toContain("WebSocket cannot be opened")
    expect(text).not.toContain("getReader")
  })

  it("has no other area if it imports the area from the package itself", async () => {
    const { text } = await bundle(oneCall.replace(/createClient \}.*\n.*/, 'createClient, users } from "@atelier/client"'))
    const paths = text.match(/\/api\/v2\/[\w/{}-]+/g) ?? []
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
