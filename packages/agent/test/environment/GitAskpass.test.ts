import { execFile } from "node:child_process"
import { readFileSync, statSync, writeFileSync, existsSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as GitAskpass from "../../src/environment/GitAskpass.js"
import { aConfig, folder } from "../TestServer.js"

const run = promisify(execFile)

/** What is installed; `npm test` builds it before. */
const program = fileURLToPath(new URL("../../dist/program.cjs", import.meta.url))

const listening = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Server>((resolve) => {
          const server = createServer(handle)
          server.listen(0, "127.0.0.1", () => resolve(server))
        })
    ),
    (server) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      return new URL(`http://127.0.0.1:${address.port}/`)
    })
  )

/** A private repository, for those who come with the token as the user name. */
const aRepository = Effect.gen(function* () {
  const home = yield* folder
  const git = (...args: ReadonlyArray<string>) => Effect.promise(() => run("git", [...args], { cwd: home }))
  yield* git("init", "-q", "work")
  writeFileSync(join(home, "work", "file"), "private")
  const author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
  yield* git("-C", "work", "add", "file")
  yield* git("-C", "work", ...author, "commit", "-q", "-m", "first")
  yield* git("clone", "-q", "--bare", "work", "repository.git")
  yield* git("-C", "repository.git", "update-server-info")
  const expected = `Basic ${Buffer.from("the-access-token:").toString("base64")}`
  return yield* listening((request, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="private"' }).end()
      return
    }
    const file = join(home, new URL(request.url ?? "/", "http://host").pathname)
    if (existsSync(file) && statSync(file).isFile()) response.end(readFileSync(file))
    else response.writeHead(404).end()
  })
})

describe("git in a workspace", () => {
  it.scopedLive("clones a private repository with the owner's token, after the owner has signed in", () =>
    Effect.gen(function* () {
      const repository = yield* aRepository
      const asked: Array<string> = []
      const server = yield* listening((request, response) => {
        const url = new URL(request.url ?? "/", "http://host")
        asked.push(`${request.headers["service-session-token"]} ${url.searchParams.get("match")} ${url.searchParams.has("listen")}`)
        const isFirst = asked.length === 1
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(
            JSON.stringify(
              isFirst ? { url: "https://dev.example.com/external-auth/git" } : { url: "", username: "the-access-token", password: "" }
            )
          )
      })
      const home = yield* folder
      const askpass = yield* GitAskpass.install(aConfig(server, home), [process.execPath, program])
      const { stderr } = yield* Effect.promise(() =>
        run("git", ["clone", `${repository.href}repository.git`, "clone"], {
          cwd: home,
          env: { PATH: process.env["PATH"], HOME: home, GIT_ASKPASS: askpass, GIT_TERMINAL_PROMPT: "0" }
        })
      )
      expect(readFileSync(join(home, "clone", "file"), "utf8")).toBe("private")
      expect(stderr).toContain("https://dev.example.com/external-auth/git")
      const origin = repository.href.replace(/\/$/, "")
      expect(asked.slice(0, 2)).toStrictEqual([`the-token ${origin} false`, `the-token ${origin} true`])
    })
  )

  it.scopedLive("keeps waiting for a sign-in while requests end without an answer", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<(response: ServerResponse) => unknown> = [
        (response) => response.end(JSON.stringify({ url: "https://dev.example.com/external-auth/git" })),
        (response) => response.destroy(),
        (response) => response.writeHead(408).end(),
        (response) => response.writeHead(503, { "content-type": "application/json" }).end('{"message":"away"}'),
        (response) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": "90" })
          response.write('{"url"')
          response.destroy()
        },
        (response) => response.end(JSON.stringify({ url: "", username: "the-access-token", password: "" }))
      ]
      let asked = 0
      const server = yield* listening((_, response) => answers[asked++]?.(response))
      const waits: Array<number> = []
      const config = aConfig(server, yield* folder)
      const wait = async (milliseconds: number) => waits.push(milliseconds)
      const prompt = "Username for 'https://git.example.com': "
      expect(yield* Effect.promise(() => GitAskpass.answer(config, prompt, () => {}, wait))).toBe("the-access-token")
      expect(waits).toStrictEqual([500, 1000, 2000, 4000])
    })
  )

  it.scopedLive("gives up on a server that stays away before it named an address to sign in", () =>
    Effect.gen(function* () {
      let asked = 0
      const server = yield* listening((_, response) => {
        asked++
        response.writeHead(503, { "content-type": "application/json" }).end('{"message":"away"}')
      })
      const config = aConfig(server, yield* folder)
      const prompt = "Username for 'https://git.example.com': "
      const answer = Effect.tryPromise(() =>
        GitAskpass.answer(
          config,
          prompt,
          () => {},
          async () => {}
        )
      )
      expect(yield* Effect.flip(answer)).toMatchObject({ cause: { message: "away" } })
      expect(asked).toBe(5)
    })
  )

  it.scopedLive("gets its answers from files that only the workspace's user can read", () =>
    Effect.gen(function* () {
      const script = yield* GitAskpass.install(aConfig(new URL("http://127.0.0.1:9/"), yield* folder), ["/a node's", "/program"])
      expect(statSync(dirname(script)).mode & 0o777).toBe(0o700)
      expect(statSync(join(dirname(script), "token")).mode & 0o777).toBe(0o600)
      expect(readFileSync(script, "utf8")).toContain(`exec '/a node'\\''s' '/program' git-askpass`)
      expect(readFileSync(script, "utf8")).not.toContain("the-token")
    })
  )

  it.each([
    ["Username for 'https://git.example.com': ", { wanted: "username", address: "https://git.example.com" }],
    ["Password for 'https://the-token@git.example.com': ", { wanted: "password", address: "https://git.example.com" }],
    ["Username for 'https://git.example.com/team/x.git': ", { wanted: "username", address: "https://git.example.com/team/x.git" }],
    ["Enter passphrase for key '/home/ann/.ssh/id': ", undefined]
  ])("asks for %s", (prompt, expected) => {
    expect(GitAskpass.parsePrompt(prompt)).toStrictEqual(expected)
  })
})
