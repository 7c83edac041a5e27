/** The program that git asks for user names and passwords: it gets the workspace owner's token from the server. agents-and-apps.md §10. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, type Scope } from "effect"
import type { AgentConfig } from "../AgentConfig.js"
import * as HttpRequest from "../connection/HttpRequest.js"

/** The command of the agent's program that answers git. */
export const command = "git-askpass"

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The script that git runs: the agent's program, which finds its token in a file. */
const scriptOf = ({ brand, url }: AgentConfig, tokenFile: string, program: ReadonlyArray<string>): string => {
  const name = brand.environmentName
  const variables = {
    [`${name}_AGENT_URL`]: url.href,
    [`${name}_AGENT_TOKEN_FILE`]: tokenFile,
    [`${name}_AGENT_BRAND`]: brand.sessionHeader.replace(/-Session-Token$/, "")
  }
  return [
    "#!/bin/sh",
    // The agent's own token may have been shared
    `unset ${name}_AGENT_TOKEN`,
    ...Object.entries(variables).map(([key, value]) => `export ${key}=${quoted(value)}`),
    `exec ${program.map(quoted).join(" ")} ${command} --environment-prefix ${quoted(name)} "$@"`,
    ""
  ].join("\n")
}

/**
 * Writes the script and the token, for the workspace's user alone, and returns the script's path. They are removed when the scope
 * closes. `program` is what runs the agent.
 */
export const install = (config: AgentConfig, program: ReadonlyArray<string>): Effect.Effect<string, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => mkdtemp(join(tmpdir(), "git-askpass-")), catch: (cause) => cause }),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const [script, token] = [join(folder, "git-askpass"), join(folder, "token")]
    yield* Effect.tryPromise({
      try: async () => {
        await writeFile(token, Redacted.value(config.token), { mode: 0o600 })
        await writeFile(script, scriptOf(config, token, program), { mode: 0o700 })
      },
      catch: (cause) => cause
    })
    return script
  })

/** What git asks for, and at which address; undefined for a question of another kind. */
export const parsePrompt = (prompt: string): { readonly wanted: "password" | "username"; readonly address: string } | undefined => {
  const [, kind, text = ""] = /^(Username|Password) for '(.+)':\s*$/.exec(prompt) ?? []
  if (kind === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  url.username = ""
  url.password = ""
  return { wanted: kind === "Username" ? "username" : "password", address: url.href.replace(/\/$/, "") }
}

/** Milliseconds between two requests, at first and at most. */
const delays = { first: 500, longest: 10_000 }

/** How often an answer that needs no sign-in is asked for. */
const attempts = 5

const isOk = ({ status }: HttpRequest.HttpAnswer): boolean => status >= 200 && status < 300

/** The value of a JSON text; undefined for another text, or one that the connection ended within. */
const jsonOf = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The server may answer the same request later: the server or a proxy before it ended the wait, or the server is away. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500

/**
 * Answers one question of git. Rejects with a message for the user. `tell` shows a line while the answer is waited for. A wait for the user's
 * sign-in goes on after each end that a proxy, the runtime or a restart of the server gives to the request.
 */
export const answer = async (
  config: AgentConfig,
  prompt: string,
  tell: (line: string) => void,
  sleep: (milliseconds: number) => Promise<unknown> = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
): Promise<string> => {
  const asked = parsePrompt(prompt)
  if (asked === undefined) throw new Error("git asks for something else than a user name or password.")
  const base = config.url.href.replace(/\/*$/, "")
  const ask = async (further: string, most: number): Promise<Readonly<Record<string, unknown>>> => {
    for (let attempt = 1, delay = delays.first; ; attempt++, delay = Math.min(2 * delay, delays.longest)) {
      const began = performance.now()
      const response = await HttpRequest.get(
        new URL(`${base}/api/v2/workspaceagents/me/external-auth?${new URLSearchParams({ match: asked.address })}${further}`),
        { [config.brand.sessionHeader]: Redacted.value(config.token) }
      ).catch((error: unknown) => {
        if (attempt >= most) throw error
        return undefined
      })
      const body = jsonOf(response?.text)
      const isCut = response === undefined || (isOk(response) && body === undefined)
      if (attempt < most && (isCut || isPassing(response.status))) {
        // A request that was held for long is no sign of a server in trouble
        if (performance.now() - began > delays.longest) delay = delays.first
        await sleep(delay)
        continue
      }
      const members = typeof body === "object" && body !== null ? { ...body } : {}
      if (response !== undefined && isOk(response)) return members
      throw new Error("message" in members ? String(members.message) : `The server answered ${response?.status}.`)
    }
  }
  let token = await ask("", attempts)
  if (typeof token["url"] === "string" && token["url"] !== "") {
    tell(`Sign in at ${token["url"]} so that git can go on.`)
    token = await ask("&listen=true", Number.POSITIVE_INFINITY)
  }
  const value = token[asked.wanted]
  if (typeof value !== "string") throw new Error("The server has no token for the address.")
  return value
}
