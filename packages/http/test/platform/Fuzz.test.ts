import { SqlClient } from "@effect/sql"
import { Uuid } from "@atelier/core/platform"
import { Effect, Logger, Schema } from "effect"
import * as fc from "fast-check"
import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { databases } from "../../../../test/store/databases.js"
import { checkAnswer } from "../../../../test/description/description.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { canary, Description, type FuzzRequest, kindOf, requestsOf } from "../../../../test/description/fuzz.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { startServer, type TestServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"

type Storage = (typeof databases)[number][1]

/** Requests between which people and a workspace are made anew: they end sessions and delete users. */
const perRound = 400

/** A workspace takes longer to make than people. */
const roundsPerWorkspace = 5

/** As many as a run of all tests has time for. `FUZZ_ROUNDS=20` makes sure that each operation is reached. */
const given = Number(process.env["FUZZ_ROUNDS"] ?? 0)

const rounds = given > 0 ? given : 3

/** Requests under way at once. */
const width = 8

/** Makes the same requests each time, but for ids. `FUZZ_SEED` makes others. */
const seed = Number(process.env["FUZZ_SEED"] ?? 20_240_229)

/** Ids and names of one kind that requests are made with. */
const maximumKnown = 12

const callers = ["nobody", "member", "member", "owner", "owner", "token", "agent"] as const

/** Requests that take a profile. Each holds the processor for a tenth of a second or more. */
const takesProfile = /\/debug\/(?:pprof\/(?:heap|profile)|profile)$/

/** Profiles that are taken; later requests for one come from a caller who may not take any. */
const maximumProfiles = 3

/** Answers that show a secret, this once. */
const showsKey = /^POST \/api\/v2\/users\/(?:login|\{user\}\/keys(?:\/tokens)?)$/

/** The agent's key for git is for the agent. */
const showsGitKey = "GET /api/v2/workspaceagents/me/gitsshkey"

/** What no answer and no line of the log may hold. Of the canary a part: of a text that cannot be read, a message may quote one. */
const hidden = [canary.slice(7, 13), "$argon2", "PRIVATE KEY", "hashed_"]

/** How an entry of the audit log names a secret that changed: without its values. */
const changedSecret = /"(?:token_)?hashed_\w+":\{(?:"(?:old|new)":(?:""|null),?)*"secret":true\}/g

const Key = Schema.Struct({ key: Schema.String })

/** What a list or a part of an answer holds, by the name it has there. */
const kindsOfParts: Readonly<Record<string, string>> = {
  agents: "workspaceagent",
  builds: "workspacebuild",
  keys: "token",
  latest_build: "workspacebuild",
  tokens: "token",
  versions: "templateversion",
  workspacebuilds: "workspacebuild"
}

const kindOfPart = (name: string): string => kindsOfParts[name] ?? name.replace(/s$/, "")

/** Ids and names in an answer, with their kinds. */
const namesIn = function* (value: unknown, kind: string): Generator<readonly [kind: string, name: string]> {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 3)) yield* namesIn(item, kind)
  } else if (typeof value === "object" && value !== null) {
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner !== "string") yield* namesIn(inner, kindOfPart(field))
      else if (inner === "" || inner.length > 64) continue
      else if (field === "id" || field === "name" || field === "token_name") yield [kind, inner]
      else if (field === "username") yield ["user", inner]
      else if (field === "hash" || field.endsWith("_id")) yield [kindOf(field), inner]
    }
  }
}

/** An answer as its description speaks of it. */
const answerOf = ({ method, target }: FuzzRequest, { headers, status }: Response) => ({
  method,
  path: target.split("?")[0] ?? "",
  status,
  contentType: headers.get("content-type")
})

/** Returns the violation in an answer, or undefined. */
const violationOf = (request: FuzzRequest, { headers, status }: Response, text: string, keys: ReadonlySet<string>): string | undefined => {
  if (status >= 500) return `answered ${status}`
  if (!/^[0-9a-f-]{36}$/.test(headers.get("x-service-request-id") ?? "")) return "has no request id"
  if (headers.get("x-content-type-options") !== "nosniff") return "may be sniffed"
  if (headers.get("x-injected") !== null) return "has an injected header"
  const isJson = headers.get("content-type")?.startsWith("application/json") === true
  if (isJson && /[<>&]/.test(text)) return "is not safe in a page"
  if (status < 300 && (showsKey.test(request.operation) || request.operation === showsGitKey)) return undefined
  const searched = text.replaceAll(changedSecret, "")
  const shown = hidden.find((part) => searched.includes(part)) ?? [...keys].find((key) => searched.includes(key))
  return shown === undefined ? undefined : `shows ${shown}`
}

const fuzz = async (storage: Storage, count: number) => {
  const lines: Array<string> = []
  const server = await startServer(storage, {
    entitlements: { has: () => true },
    options: { swaggerEnable: true },
    provisioner: testEngines,
    logLevel: "debug",
    logger: Logger.map(Logger.logfmtLogger, (line) => void lines.push(line))
  })
  const known = new Map<string, Array<string>>()
  const learn = (kind: string, ...names: ReadonlyArray<string>): void => {
    const all = known.get(kind) ?? []
    all.push(...names.filter((name) => !all.includes(name)))
    known.set(kind, all.slice(-maximumKnown))
  }
  const keys = new Set<string>()
  const failures: Array<object> = []
  const statuses = new Map<string, Set<number>>()
  let sent = 0
  let profiles = 0
  let agent: string | undefined

  const send = async (request: FuzzRequest, token: string | undefined): Promise<void> => {
    // Only what hangs is to fail for it
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(new Error("took too long")), 240_000)
    try {
      const response = await server.atelier.fetch(
        new Request(`http://atelier.test${shortened(request.target)}`, {
          method: request.method,
          headers: { ...request.headers, ...(token === undefined ? {} : { "Service-Session-Token": token }) },
          signal: abort.signal,
          ...(request.body === undefined ? {} : { body: request.body })
        }),
        { remoteAddress: "192.0.2.1" }
      )
      sent++
      // Streams of events do not end
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (isStream) await response.body?.cancel()
      const text = isStream ? "" : await response.text()
      if (response.ok && showsKey.test(request.operation)) {
        for (const key of text.match(/(?<=-)[0-9A-Za-z]{22}(?=")/g) ?? []) keys.add(key)
      }
      if (!isStream) checkAnswer("standard", { ...answerOf(request, response), text })
      const violation = violationOf(request, response, text, keys)
      if (violation !== undefined) failures.push({ violation, ...request, answer: text.slice(0, 500) })
      else if (response.ok && response.headers.get("content-type")?.startsWith("application/json") === true) {
        // A build's state is whatever its engine wrote
        if (request.operation.endsWith("/state")) return
        const part = request.operation.split("/").findLast((segment) => !segment.startsWith("{")) ?? ""
        for (const [kind, name] of namesIn(JSON.parse(text), kindOfPart(part))) learn(kind, name)
      }
      statuses.set(request.operation, (statuses.get(request.operation) ?? new Set()).add(response.status))
    } catch (error) {
      // A stored file need not be a tar: its zip is generated while it is sent, and breaks off
      const isBrokenZip = request.target.includes("format=zip") && String(error).includes("Unable to read the tar file")
      if (!isBrokenZip) failures.push({ violation: String(error), ...request })
    } finally {
      clearTimeout(timer)
    }
  }

  try {
    const description = (await server.call("GET", "//swagger/doc.json")).as(Description)
    for (let round = 0; round < count; round++) {
      const people = await peopleOf(server, learn)
      if (round % roundsPerWorkspace === 0) agent = await agentOf(server, people, learn)
      const tokens: Readonly<Record<(typeof callers)[number], string | undefined>> = {
        nobody: undefined,
        owner: people.owner.token,
        member: people.member.token,
        token: people.token,
        agent
      }
      const requests = fc.sample(fc.tuple(requestsOf(description, known), fc.constantFrom(...callers)), {
        seed: seed + round,
        numRuns: perRound
      })
      const next = requests.values()
      const worker = async (): Promise<void> => {
        for (const [request, caller] of next) {
          const isTooMany = takesProfile.test(request.operation) && ++profiles > maximumProfiles
          await send(request, tokens[isTooMany ? "member" : caller])
        }
      }
      await Promise.all(Array.from({ length: width }, worker))
      // A long run does not keep the log of its rounds
      const log = lines.splice(0).join("\n")
      const secrets = [...hidden, ...keys].filter((secret) => log.includes(secret))
      if (secrets.length > 0) failures.push({ violation: "the log shows secrets", round, secrets })
    }
    return { description, failures, sent, statuses }
  } finally {
    await server.close()
  }
}

/** Profiles last as long as they are asked for, and for half a minute unless it is said. */
const shortened = (target: string): string =>
  target.replace(/(\/debug\/(?:pprof\/(?:heap|profile)|profile))(?:\?.*)?$/, "$1?seconds=1&duration=1ms")

type Learn = (kind: string, ...names: ReadonlyArray<string>) => void

/** New people; one of them also has a token with limited scopes. */
const peopleOf = async (server: TestServer, learn: Learn) => {
  const owner = await server.aMember({ rbac_roles: ["owner"] })
  const member = await server.aMember()
  const scopes = ["user:read", "workspace:read", "coder:workspaces.create", "user_secret:create", "api_key:*"]
  const { key } = (await server.call("POST", "/users/me/keys/tokens", { token: member.token, body: { scopes } })).as(Key)
  learn("user", owner.user.id, member.user.username, member.user.id)
  return { owner, member, token: key }
}

/** The token of the agent of a new workspace that runs. */
const agentOf = async (server: TestServer, { member, owner }: Awaited<ReturnType<typeof peopleOf>>, learn: Learn) => {
  // Requests of owners change what members may do
  await server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      yield* sql`UPDATE organizations SET default_org_member_roles = '["organization-workspace-access"]' WHERE is_default`
    })
  )
  const token = Uuid.Uuid.make(randomUUID())
  // The first user's session may have been ended
  // Requests for an agent that may still connect wait for it
  const made = anAgent({ auth: { _tag: "Token", token }, connection_timeout_seconds: 1 })
  const template = await aTemplate({ ...server, owner: () => owner }, { resources: [aResource({ agents: [made] })] })
  const workspace = await aWorkspace(server, template, member)
  const [agent] = await server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      return yield* sql<{ readonly id: string }>`SELECT id FROM workspace_agents ORDER BY created_at DESC LIMIT 1`
    })
  )
  learn("template", template.id, template.name)
  learn("templateversion", template.active_version_id)
  learn("organization", template.organization_id)
  learn("workspace", workspace.id, workspace.name)
  learn("workspacebuild", workspace.latest_build.id)
  learn("workspaceagent", agent?.id ?? "")
  return token
}

describe.each(databases)("whatever is sent to the interface on %s", (_, storage) => {
  it(
    "is never an internal error, and no answer or line of the log shows a secret",
    { timeout: Math.max(900_000, rounds * 60_000) },
    async () => {
      const { description, failures, sent, statuses } = await fuzz(storage, rounds)
      expect(failures.slice(0, 5), `FUZZ_SEED=${seed} FUZZ_ROUNDS=${rounds}`).toStrictEqual([])
      expect(sent).toBe(rounds * perRound)
      // A smaller run may miss some
      const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      )
      const missed = operations.filter((operation) => !statuses.has(operation))
      expect(missed.length).toBeLessThanOrEqual(given >= 20 ? 0 : operations.length / 10)
      expect({}).not.toHaveProperty("admin")
    }
  )
})
