/** Requests of browsers to apps, as they were recorded, with what the client and the app saw. agents-and-apps.md §19, §20. */
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { expect, it } from "vitest"
import { WebSocketServer } from "ws"
import { anApp } from "../../../../test/records/resources.js"
import { type AgentServer, describeAgentInterface } from "../agents/AgentServer.js"
import { link, listening } from "../network/linkedAgents.js"

const Lines = Schema.Array(Schema.Tuple(Schema.String, Schema.String))
type Lines = typeof Lines.Type

const RecordedExchange = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    method: Schema.String,
    target: Schema.String,
    headers: Lines,
    body: Schema.String,
    status: Schema.Number,
    /** Headers of the answer that are the service's word. */
    answer: Lines,
    /** The requests that reached the app. */
    app: Schema.Array(Schema.Struct({ line: Schema.String, headers: Lines }))
  })
)
type RecordedExchange = typeof RecordedExchange.Type

const exchanges = readFileSync(new URL("recordedApps.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Schema.decodeSync(RecordedExchange)(line))

const linesOf = (raw: ReadonlyArray<string>): Lines =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? "", raw[2 * at + 1] ?? ""])

/** The texts of a recording with their replacements here. A replacement is learned from the answer, at the place of the recorded text. */
class Texts {
  private readonly known: Array<readonly [from: RegExp, to: string]> = []

  set(from: RegExp | string, to: string): void {
    this.known.push([typeof from === "string" ? new RegExp(from.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), "g") : from, to])
  }

  here(text: string): string {
    return this.known.reduce((changed, [from, to]) => changed.replaceAll(from, () => to), text)
  }
}

const accessUrl = "http://127.0.0.1:3600"
const keyParameter = "coder_application_connect_api_key_35e783"

/** A cookie's name, value and attributes; when it expires depends on the time. */
const cookieOf = (line: string) => {
  const [pair = "", ...attributes] = line.split("; ")
  const mark = pair.indexOf("=")
  return {
    name: pair.slice(0, mark).replace(/_[0-9a-f]{32}$/, ""),
    value: pair.slice(mark + 1),
    attributes: attributes.map((attribute) => attribute.replace(/^Expires=.*/, "Expires")).toSorted()
  }
}

const valuesOf = (lines: Lines, name: string): ReadonlyArray<string> =>
  lines.flatMap(([key, value]) => (key.toLowerCase() === name ? value : []))

const keyIn = (lines: Lines): string | null => {
  const [location = ""] = valuesOf(lines, "location")
  return URL.canParse(location) ? new URL(location).searchParams.get(keyParameter) : null
}

/** Learns tokens: an answer has each in the recorded one's place. */
const learn = (texts: Texts, recorded: Lines, here: Lines): void => {
  const cookies = (lines: Lines) => valuesOf(lines, "set-cookie").map(cookieOf)
  for (const { name, value } of cookies(recorded)) {
    const own = cookies(here).find((cookie) => cookie.name === name)
    if (own !== undefined && value.length > 20) texts.set(value, own.value)
  }
  const [from, to] = [keyIn(recorded), keyIn(here)]
  if (from !== null && to !== null) texts.set(from, to)
}

/** The address that a client is sent to, and its query in any order. */
const placeOf = (location: string) => {
  const url = new URL(location, accessUrl)
  const query = [...url.searchParams].map(([name, value]) => `${name}=${name === keyParameter ? "" : value}`)
  return [url.origin + url.pathname, ...query.toSorted()]
}

/** A request as the app gets it. */
interface Told {
  readonly line: string
  readonly headers: Lines
}

/**
 * Headers that the app is told of here too. The service keeps its own credentials and what other proxies say to itself, and adds the host.
 * The reference's client asks for compression.
 */
const toldOf = ({ headers, line }: Told) => ({
  line: line.replace(/coder_session_token=[^&]*&/, ""),
  headers: headers
    .flatMap(([name, value]) => {
      const lower = name.toLowerCase()
      if (/^(connection|keep-alive|te|expect|forwarded|(x-forwarded|x-real|true-client|cf-connecting)-.*|coder-session-token)$/.test(lower))
        return []
      if (lower === "authorization" && value.startsWith("Bearer ")) return []
      const kept = lower === "cookie" ? value.replace(/csrf_token=[^;]*(; |$)/, "").replace(/; $/, "") : value
      return /^(cookie: |accept-encoding: gzip)$/.test(`${lower}: ${kept}`) ? [] : `${lower}: ${kept}`
    })
    .toSorted()
})

const isTheApps = (status: number, app: ReadonlyArray<Told>): boolean => app.length > 0 && status !== 502

/** What of an exchange is compared: the texts of pages are our own. The token for an app comes with the app's answers alone. */
const outcomeOf = (status: number, answer: Lines, app: ReadonlyArray<Told>) => ({
  status,
  location: valuesOf(answer, "location").map(placeOf),
  cookies: valuesOf(answer, "set-cookie")
    .map(cookieOf)
    .filter(({ name, value }) => name !== "csrf_token" && value !== "evil")
    .filter(({ name }) => name !== "coder_signed_app_token" || isTheApps(status, app))
    .map(({ attributes, name, value }) => [name, value.length > 20 ? "" : value, ...attributes].join(" "))
    .toSorted(),
  vary: isTheApps(status, app) ? [...new Set(valuesOf(answer, "vary").flatMap((list) => list.toLowerCase().split(/, */)))].toSorted() : [],
  leave: answer.flatMap(([name, value]) => (/^access-control-/i.test(name) ? `${name}: ${value}`.toLowerCase() : [])).toSorted(),
  app: app.map(toldOf)
})
type Outcome = ReturnType<typeof outcomeOf>

/** Browsers send preflights without credentials. */
const admitted = (_: Outcome, { leave }: Outcome): Partial<Outcome> => ({ status: 200, location: [], leave })

/** Where the outcome here is another one on purpose, from the recorded one and that here. docs/apps-and-terminals.md. */
const departures: Readonly<Record<string, (recorded: Outcome, here: Outcome) => Partial<Outcome>>> = {
  // The query stays
  "path-noslash": ({ location: [place = []] }) => ({ location: [[...place, "a=1"]] }),
  // Browsers send the cookie back below the path as they write it
  "path-encoded-at": ({ cookies }) => ({ cookies: cookies.map((cookie) => cookie.replace("/@", "/%40")) }),
  "path-port": () => ({ status: 400 }),
  // An app that does not exist and one that needs a session are alike
  "path-unknown-app-anonymous": (_, { location, status }) => ({ location, status }),
  "sub-unknown-app-anonymous": (_, { location, status }) => ({ location, status }),
  "path-external": () => ({ status: 404 }),
  // The request is sent again where it used a kept connection
  "path-abort": (_, { app }) => ({ app }),
  // Paths are the app's, as they are
  "path-double-slash": ({ app, cookies }) => ({
    cookies: cookies.map((cookie) => cookie.replace("pathapp//", "pathapp/")),
    app: app.map(({ headers, line }) => ({ headers, line: line.replace(" /", " //") }))
  }),
  // An app below a path sets no cookie for the host
  "path-setcookie": ({ cookies }) => ({
    cookies: cookies.map((cookie) => cookie.replace(/ Path=\/$/, ` Path=${/Path=(\S+)/.exec(cookies[0] ?? "")?.[1]}`))
  }),
  "cors-preflight-same-user": admitted,
  "cors-preflight-same-user-port": admitted,
  "cors-preflight-method": admitted,
  "cors-preflight-private-network": admitted,
  "cors-unknown-app-preflight": admitted,
  // The reference shows its dashboard
  "sub-two-labels": () => ({ status: 303, location: [[`${accessUrl}/login`]] }),
  // The recording has the head of the interim answer
  "path-expect-continue": (_, { cookies, vary }) => ({ cookies, vary }),
  // The names of hosts have no case (RFC 9110 §4.2.3)
  "sub-upper-case": (_, { app, cookies, vary }) => ({ app, cookies, vary }),
  // A key opens at the host that it was made for
  "jwe-4-other-app": () => ({ status: 400, location: [], cookies: [] })
}

const send = ({ url }: AgentServer, { body, method, target }: RecordedExchange, headers: Lines) =>
  new Promise<{ readonly status: number; readonly headers: Lines }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path: target, method, headers: headers.flat(), setHost: false })
    const answered = (response: IncomingMessage): void => {
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: linesOf(response.rawHeaders) })).resume()
    }
    sent.on("response", answered)
    sent.on("upgrade", (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode ?? 0, headers: linesOf(response.rawHeaders) })
    })
    sent.on("error", reject)
    sent.end(body)
  })

const answerAsApp: RequestListener = ({ socket, url = "" }, response) => {
  if (url.startsWith("/abort")) return void socket.destroy()
  if (url.startsWith("/setcookie")) {
    response.setHeader("Set-Cookie", ["mine=1; Path=/; HttpOnly", "coder_session_token=evil; Path=/"])
    response.setHeader("Access-Control-Allow-Origin", "https://elsewhere.example")
    response.setHeader("Access-Control-Allow-Credentials", "true")
    response.setHeader("Vary", "Origin, Accept-Encoding")
  }
  if (url.startsWith("/redirect")) response.writeHead(302, { Location: "/elsewhere?y=2" })
  else if (url.startsWith("/status500")) response.writeHead(500)
  response.end("app")
}

/** The recorded app, which keeps what reaches it. */
const recordedApp = async () => {
  const told: Array<Told> = []
  const note = ({ method, rawHeaders, url }: IncomingMessage): void =>
    void told.push({ line: `${method} ${url}`, headers: linesOf(rawHeaders) })
  const sockets = new WebSocketServer({ noServer: true })
  const port = await listening(
    createServer((incoming, response) => {
      note(incoming)
      answerAsApp(incoming, response)
    }).on("upgrade", (incoming, socket, head) => {
      note(incoming)
      sockets.handleUpgrade(incoming, socket, head, (webSocket) => webSocket.on("error", () => undefined))
    })
  )
  return { port, told }
}

describeAgentInterface(
  "apps",
  (server) => {
    it("answer recorded requests", async () => {
      const { port, told } = await recordedApp()
      const { token, user } = await server().aMember()
      const url = `http://127.0.0.1:${port}`
      const agent = await server().anAgent({
        apps: [
          anApp({ slug: "based", url: `${url}/base/?x=1`, subdomain: true }),
          anApp({ slug: "basedpath", url: `${url}/base?x=1` }),
          anApp({ slug: "down", url: "http://127.0.0.1:9", subdomain: true }),
          anApp({ slug: "ext", url: "https://example.com/x", external: true }),
          anApp({ slug: "pathapp", url }),
          anApp({ slug: "sub", url, subdomain: true }),
          anApp({ slug: "subauth", url, subdomain: true, sharing_level: "authenticated" }),
          anApp({ slug: "subpub", url, subdomain: true, sharing_level: "public" })
        ]
      })
      await link(server(), agent)
      const { owner, workspace } = agent
      const texts = new Texts()
      texts.set("USERTOKEN1-ADMINxxxxxxxxxxxxxxxxx", server().owner().token)
      texts.set("USERTOKEN2-BOBxxxxxxxxxxxxxxxxxxx", token)
      texts.set(/_[0-9a-f]{32}(?==)/g, "")
      texts.set("3e9eb647-a705-43d5-bbe9-86452e34ee6c", workspace.id)
      texts.set("3e2b2c1a-0ea8-4184-8e82-92c9111bfa1c", workspace.template_id)
      texts.set("18080", String(port))
      texts.set(/(?<=%2F%40)admin%2Fdev(?=\.|%2F)/g, `${owner.username}%2F${workspace.name}`)
      texts.set(/(?<=@|%40)admin\/dev(?=[./])/g, `${owner.username}/${workspace.name}`)
      texts.set(/@admin\//g, `@${owner.username}/`)
      texts.set(/dev--admin/g, `${workspace.name}--${owner.username}`)
      texts.set(/DEV--ADMIN/g, `${workspace.name}--${owner.username}`.toUpperCase())
      texts.set(/dev--bob/g, `${workspace.name}--${user.username}`)
      texts.set(/other--admin/g, `other--${owner.username}`)
      const here = (lines: Lines): Lines => lines.map(([name, value]) => [name, texts.here(value)] as const)

      for (const recorded of exchanges) {
        const body = texts.here(recorded.body)
        const headers = here(recorded.headers).map(
          ([name, value]) => [name, name.toLowerCase() === "content-length" ? String(Buffer.byteLength(body)) : value] as const
        )
        const answer = await send(server(), { ...recorded, target: texts.here(recorded.target), body }, headers)
        learn(texts, recorded.answer, answer.headers)
        const found = outcomeOf(answer.status, answer.headers, told.splice(0))
        const app = recorded.app.map(({ headers: lines, line }) => ({ line: texts.here(line), headers: here(lines) }))
        const expected = outcomeOf(recorded.status, here(recorded.answer), app)
        expect.soft({ name: recorded.name, ...found }).toStrictEqual({
          name: recorded.name,
          ...expected,
          ...departures[recorded.name]?.(expected, found)
        })
      }
    })
  },
  { accessUrl, compatibility: "coder", options: { wildcardAccessUrl: "*.apps.localhost:3600" } }
)
