/**
 * Plays recorded conversations with the interface against a server of a test, and answers where the server's answers differ.
 *
 * A conversation is a file of JSON lines: first its head, then a step per line. Steps go through one after the other.
 *
 * In requests, `{name}` is a kept value, a person's or organization's id, `{name^}` the same in capitals, `{run}` a word of this run,
 * `{now-1h}` a time (units `s`, `m`, `h`, `d`), `{today-3d}` a day of UTC, `{hour+1h}` a full hour, `{clock+1h}` the hour of the day of UTC, and `{500*x}` a text of 500 times `x`. In answers, `UUID`, `TOKEN`, `KEYID` and `NOW+120m` (rounded to five minutes) stand for any value of
 * their kind, and `ABSENT` for none. A list of words stands for any text that contains them.
 */
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { WebSocket } from "ws"
import { exchange } from "./request.js"
import type { NewPerson, Person } from "./server.js"

const texts = Schema.Array(Schema.String)

const Role = Schema.Struct({
  /** Roles of the deployment. */
  roles: Schema.optionalWith(texts, { default: () => [] }),
  organization_roles: Schema.optionalWith(texts, { default: () => [] }),
  /** Whether the user is a member of the default organization. */
  member: Schema.optionalWith(Schema.Boolean, { default: () => true })
})
type Role = typeof Role.Type

const Head = Schema.Struct({
  /** Users made first: those of the cast by name, others with their roles. */
  people: Schema.optionalWith(Schema.Array(Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Role }))), {
    default: () => []
  }),
  /** Whether users are made and logged in by calls: these leave entries, messages, keys and times that the conversation is about. */
  enrolled: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  /** Fields that are not compared, nor whether they are there. */
  ignore: Schema.optionalWith(texts, { default: () => [] }),
  /** Fields whose lists are compared without regard to order; the empty text names the answer itself. */
  unordered: Schema.optionalWith(texts, { default: () => [] }),
  /** Actions by kind of resource, for steps that ask about every pair of both. */
  actions: Schema.optionalWith(Schema.Record({ key: Schema.String, value: texts }), { default: () => ({}) })
})
type Head = typeof Head.Type

const request = {
  /** A person, `anonymous`, or the kept value that is the token; the first user unless given. */
  as: Schema.optional(Schema.String),
  /** Method and path below `/api/v2`, or a path of the whole server behind two slashes. */
  call: Schema.String,
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  /** The content type, which is that of JSON unless given. */
  type: Schema.optionalWith(Schema.String, { default: () => "application/json" }),
  body: Schema.optional(Schema.Unknown),
  base64: Schema.optional(Schema.String)
}
const Request = Schema.Struct(request)
type Request = typeof Request.Type

const Exchange = Schema.Struct({
  ...request,
  /** Values of the answer that later steps name: name → path. */
  keep: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  /** Who acts with the session of the answer from here on. */
  login: Schema.optional(Schema.String),
  status: Schema.Number,
  answer: Schema.optional(Schema.Unknown),
  /** Parts of the answer, by path. */
  only: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  /** Names of fields with the types of their values. */
  shape: Schema.optional(Schema.Unknown),
  /** Fields that a refusal names, among others. */
  fields: Schema.optionalWith(texts, { default: () => [] }),
  type_is: Schema.optional(Schema.String),
  ignore: Head.fields.ignore,
  unordered: Head.fields.unordered
})
type Exchange = typeof Exchange.Type

/** Requests that are sent at once, with their statuses in ascending order. */
const Race = Schema.Struct({ together: Schema.Array(Request), statuses: Schema.Array(Schema.Number) })

/** What a person may do to an object of each kind: `kind:action,action` for each kind with allowed actions, with `*` for all of its actions. */
const Rights = Schema.Struct({
  as: Schema.String,
  object: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  allowed: Schema.String
})

/** A passcode that a user is mailed. */
const Mail = Schema.Struct({ mail: Schema.String, keep: Schema.String })

/** The upload of a template's source, by name or with its files; its file's id is kept. `status` is that of a refusal. */
const Source = Schema.Struct({
  as: Schema.optional(Schema.String),
  source: Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Schema.String })),
  keep: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Number)
})

/** Asks until the answer has one of the values at each path; `status:` is that of the answer, and `text:` has the value in it. */
const Wait = Schema.Struct({
  as: Schema.optional(Schema.String),
  wait: Schema.String,
  until: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.Unknown) })
})

/** The errors that a log begins, each once, in any order. */
const Log = Schema.Struct({ log: Schema.String, errors: Schema.Array(Schema.Union(Schema.String, texts)) })

/** Opens a stream under a name: a WebSocket, or server-sent events if `status` is 200. */
const Open = Schema.Struct({ as: Schema.optional(Schema.String), open: Schema.String, call: Schema.String, status: Schema.Number })

/** The next messages of a stream, all of them or their number with values at paths, and the code that the stream is closed with after them. */
const Receive = Schema.Struct({
  receive: Schema.String,
  messages: Schema.Union(Schema.Array(Schema.Unknown), Schema.Number),
  only: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  closed: Schema.optional(Schema.Number),
  /** Messages before these, up to the first with these values at paths, are passed over: how many there are is up to timing. */
  through: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  ignore: Head.fields.ignore
})

/** What the webhook's receiver got that contains these texts: all of it or its number, with values at paths. */
const Hook = Schema.Struct({
  hook: texts,
  messages: Schema.Union(Schema.Array(Schema.Unknown), Schema.Number),
  only: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  ignore: Head.fields.ignore
})

/** Waits until no notification is on its way: what has not come by then does not come. */
const Quiet = Schema.Struct({ quiet: Schema.Literal(true) })

const Send = Schema.Struct({ send: Schema.String, message: Schema.String })
const Close = Schema.Struct({ close: Schema.String })

/** The report of the agent with this token that it is in this state. */
const Report = Schema.Struct({ agent: Schema.String, lifecycle: Schema.String })

/** Keeps provisioner jobs from going on, or lets them: what is asked meanwhile meets them in between. */
const Hold = Schema.Struct({ hold: Schema.Boolean })

/** Waits until a job has come to where it is kept. */
const Held = Schema.Struct({ held: Schema.Literal(true) })

/** What time or a fault has made of a stored row. */
const Row = Schema.Struct({
  row: Schema.String,
  id: Schema.String,
  fields: Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) })
})

/** A row that is stored. */
const Insert = Schema.Struct({
  insert: Schema.String,
  values: Schema.Record({ key: Schema.String, value: Schema.Union(Schema.String, Schema.Number, Schema.Null) })
})

/** The names of the notifications whose payload has a text in it, since the last such step. */
const Told = Schema.Struct({ told: Schema.String, names: texts })

const Step = Schema.Union(
  Race,
  Rights,
  Mail,
  Source,
  Wait,
  Log,
  Open,
  Receive,
  Hook,
  Quiet,
  Send,
  Close,
  Report,
  Row,
  Insert,
  Hold,
  Held,
  Told,
  Exchange
)
type Step = typeof Step.Type

const strict = { onExcessProperty: "error" } as const
const readRequest = Schema.decodeUnknownSync(Request, strict)
const readHead = Schema.decodeUnknownSync(Head, strict)
const readStep = Schema.decodeUnknownSync(Step, strict)

/** Users that many conversations have. */
const cast: Readonly<Record<string, Partial<Role>>> = {
  owner2: { roles: ["owner"] },
  tadmin: { roles: ["template-admin"] },
  uadmin: { roles: ["user-admin"] },
  auditor: { roles: ["auditor"] },
  oadmin: { organization_roles: ["organization-admin"] },
  ouadmin: { organization_roles: ["organization-user-admin"] },
  otadmin: { organization_roles: ["organization-template-admin"] },
  oauditor: { organization_roles: ["organization-auditor"] },
  outsider: { member: false }
}

export interface Stage {
  readonly url: string
  /** The header of session tokens. */
  readonly header: string
  /** Makes a user with a session. */
  readonly enter: (person: NewPerson) => Promise<Person>
  /** Milliseconds of the server's clock. */
  readonly now?: () => number
  /** The passcode of the next message to an address. */
  readonly passcode?: (address: string) => Promise<string>
  /** The archive of a template. */
  readonly source?: (template: string | Readonly<Record<string, string>>) => Promise<Uint8Array>
  /** How often a condition is looked at that something in the background makes true, and for how long; milliseconds. */
  readonly patience?: Patience
  /** Reports the state of the agent with a token. */
  readonly report?: (token: string, lifecycle: string) => Promise<void>
  /** Keeps provisioner jobs from going on, or lets them. */
  readonly hold?: (isHeld: boolean) => void
  /** Waits until a job is kept from going on. */
  readonly held?: () => Promise<void>
  /** The names of all notifications that were queued, in their order, whose payload has a text in it. */
  readonly told?: (text: string) => Promise<ReadonlyArray<string>>
  /** Bodies that the receiver of webhooks got and no step has taken. */
  readonly hooks?: Array<unknown>
  /** Waits until no notification is on its way. */
  readonly quiet?: () => Promise<void>
  /** Changes a stored row. */
  readonly change?: (table: string, id: string, fields: Readonly<Record<string, string | null>>) => Promise<void>
  /** Stores a row. */
  readonly insert?: (table: string, row: Readonly<Record<string, string | number | null>>) => Promise<void>
}

/** A stream that a conversation has open. */
interface OpenStream {
  readonly messages: Array<unknown>
  closed: number | undefined
  readonly send: (message: string) => void
  readonly close: () => void
}

/** Milliseconds until the second question, between two later ones at most, and until the last. */
interface Patience {
  readonly interval: number
  readonly longest: number
  readonly timeout: number
}

const usualPatience: Patience = { interval: 10, longest: 100, timeout: 60_000 }

/** Asks until nothing is missing, less often the longer it takes; fails with what is missing. */
const untilComplete = async (
  { interval, longest, timeout }: Patience,
  missing: () => string | undefined | Promise<string | undefined>
): Promise<void> => {
  const deadline = Date.now() + timeout
  let pause = interval
  for (let text = await missing(); text !== undefined; text = await missing()) {
    if (Date.now() > deadline) throw new Error(text)
    await setTimeout(pause)
    pause = Math.min(pause * 1.5, longest)
  }
}

/** Something that the conversations of a server need and the test does not give. */
const given = <A>(value: A | undefined, name: string): A => {
  if (value === undefined) throw new Error(`this server's stage has no ${name}`)
  return value
}

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: unknown
}

const password = "SomeSecurePassword!"

/** Milliseconds. */
const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000]
])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value at a path such as `users.0.name`, `users.[name=ann].id` or `users.length`. */
const at = (value: unknown, path: string): unknown =>
  path === ""
    ? value
    : path.split(".").reduce((inner: unknown, key) => {
        const [, field = "", wanted] = /^\[(\w+)=(.*)\]$/.exec(key) ?? []
        if (Array.isArray(inner)) {
          if (key === "length") return inner.length
          return wanted === undefined ? inner[Number(key)] : inner.find((item) => isObject(item) && String(item[field]) === wanted)
        }
        return isObject(inner) ? inner[key] : undefined
      }, value)

const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
  return value === null ? "null" : typeof value
}

const parsed = (text: string): unknown => {
  if (text === "") return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

/** Values of the kinds that an expected text may name. */
const kinds: ReadonlyArray<readonly [name: string, pattern: string]> = [
  ["KEYID", "[A-Za-z0-9]{10}"],
  ["TOKEN", "[A-Za-z0-9]{10}-[A-Za-z0-9]{22}"],
  ["UUID", uuid],
  // The service's address
  ["BASE", "https?://[^/]+"]
]

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/

const minutesBetween = (now: number, time: string): number => Math.round((Date.parse(time) - now) / 300_000) * 5

const matchesText = (expected: string, given: string, now: number): boolean => {
  if (expected === given) return true
  const relative = /^NOW([+-]\d+)?m?$/.exec(expected)
  if (relative !== null) return isTime.test(given) && minutesBetween(now, given) === Number(relative[1] ?? 0)
  if (isTime.test(expected)) return Date.parse(expected) === Date.parse(given)
  if (!/UUID|TOKEN|KEYID|BASE/.test(expected)) return false
  const escaped = expected.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  // `CODER_AGENT_TOKEN` is a name of its own
  const place = (name: string): RegExp => new RegExp(`(?<![A-Z_])${name}(?![A-Z])`, "g")
  return new RegExp(`^${kinds.reduce((pattern, [name, values]) => pattern.replace(place(name), values), escaped)}$`).test(given)
}

interface Comparison {
  readonly ignore: ReadonlySet<string>
  readonly unordered: ReadonlySet<string>
  /** As in `Stage`. */
  readonly now: () => number
}

/** Where a value differs from the expected one. */
const differences = (expected: unknown, given: unknown, comparison: Comparison, path = ""): ReadonlyArray<string> => {
  const differs = () => [`${path || "answer"}: expected ${JSON.stringify(expected)}, not ${JSON.stringify(given)}`]
  if (expected === "ABSENT") return given === undefined ? [] : differs()
  if (typeof expected === "string" && typeof given === "string") return matchesText(expected, given, comparison.now()) ? [] : differs()
  if (Array.isArray(expected) && typeof given === "string") {
    return expected.every((word) => typeof word === "string" && given.includes(word)) ? [] : differs()
  }
  if (Array.isArray(expected) && Array.isArray(given)) {
    if (expected.length !== given.length) return differs()
    const inOrder = comparison.unordered.has(path.split(".").at(-1) ?? "") ? paired(expected, given, comparison) : given
    return expected.flatMap((item, index) => differences(item, inOrder[index], comparison, `${path}.${index}`))
  }
  if (isObject(expected) && isObject(given)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(given)].filter((key) => !comparison.ignore.has(key)))
    return [...keys].flatMap((key) => {
      const found = Object.hasOwn(given, key) ? given[key] : undefined
      return differences(Object.hasOwn(expected, key) ? expected[key] : "ABSENT", found, comparison, path === "" ? key : `${path}.${key}`)
    })
  }
  return expected === given ? [] : differs()
}

/** The given items in the order of the expected ones that they match. */
const paired = (expected: ReadonlyArray<unknown>, given: ReadonlyArray<unknown>, comparison: Comparison): ReadonlyArray<unknown> => {
  const left = [...given]
  const order = new Map<number, unknown>()
  const isOpen = (item: unknown): boolean => kinds.some(([name]) => JSON.stringify(item).includes(name))
  // One that matches many takes none that another one needs
  const indices = [...expected.keys()].toSorted((a, b) => Number(isOpen(expected[a])) - Number(isOpen(expected[b])))
  for (const index of indices) {
    const found = left.findIndex((candidate) => differences(expected[index], candidate, comparison).length === 0)
    if (found >= 0) order.set(index, left.splice(found, 1)[0])
  }
  return expected.map((_, index) => (order.has(index) ? order.get(index) : left.shift()))
}

/** What the conversations of a server share: its first user. */
interface Opening {
  readonly token: string
  readonly id: string
  readonly organization: string
}

/** The values of a file that has one in each line. */
export const jsonLines = (file: URL): ReadonlyArray<unknown> =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line))

/** The player of a server; makes its first user. */
export const makePlayer = async ({ enter, header, now = Date.now, patience = usualPatience, url, ...stage }: Stage) => {
  const addressOf = (path: string): string => url + (path.startsWith("//") ? path.slice(1) : `/api/v2${path}`)

  const send = async (call: string, token?: string, { base64, body, headers = {}, type = "application/json" }: Partial<Request> = {}) => {
    const [method = "", path = ""] = call.split(/ (.*)/s)
    const payload =
      base64 === undefined ? (typeof body === "string" || body === undefined ? body : JSON.stringify(body)) : Buffer.from(base64, "base64")
    const answer = await exchange(addressOf(path), {
      method,
      headers: {
        ...(token === undefined ? {} : { [header]: token }),
        ...(payload === undefined ? {} : { "content-type": type }),
        ...headers
      },
      body: payload
    })
    return { status: answer.status, type: answer.headers.get("content-type"), body: parsed(answer.text) } satisfies Answer
  }

  /** A call that prepares a conversation. */
  const must = async (call: string, token?: string, body?: unknown): Promise<unknown> => {
    const answer = await send(call, token, { body })
    if (answer.status >= 300) throw new Error(`${call}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const textAt = (value: unknown, path: string): string => String(at(value, path))

  const credentials = { email: "admin@example.com", password }
  await must("POST /users/first", undefined, { ...credentials, username: "admin", name: "Ada Admin" })
  const token = textAt(await must("POST /users/login", undefined, credentials), "session_token")
  const opening: Opening = {
    token,
    id: textAt(await must("GET /users/me", token), "id"),
    organization: textAt(await must("GET /organizations/default", token), "id")
  }
  let runs = 0

  /** Stores a person and answers its id and a session. */
  const store = async (name: string, { member = true, organization_roles = [], roles = [] }: Partial<Role>, run: string) => {
    const { token, user } = await enter({
      fields: { username: `${name}-${run}`, name, email: `${name}-${run}@example.com`, rbac_roles: roles },
      password,
      organizationRoles: member ? organization_roles : undefined
    })
    return { id: user.id, token }
  }

  /** As `store`, by calls. */
  const enroll = async (name: string, { member = true, organization_roles = [], roles = [] }: Partial<Role>, run: string) => {
    const email = `${name}-${run}@example.com`
    const organization_ids = [opening.organization]
    const made = await must("POST /users", token, {
      username: `${name}-${run}`,
      name,
      email,
      password,
      login_type: "password",
      organization_ids
    })
    const id = textAt(made, "id")
    const membership = `/organizations/${opening.organization}/members/${id}`
    if (!member) await must(`DELETE ${membership}`, token)
    if (roles.length > 0) await must(`PUT /users/${id}/roles`, token, { roles })
    if (organization_roles.length > 0) await must(`PUT ${membership}/roles`, token, { roles: organization_roles })
    return { id, token: textAt(await must("POST /users/login", undefined, { email, password }), "session_token") }
  }

  /** Plays the conversation of a file, or one of a head and steps; answers the differences, each with the line of its step. */
  return async (conversation: URL | ReadonlyArray<unknown>): Promise<ReadonlyArray<string>> => {
    const [first, ...steps] = conversation instanceof URL ? jsonLines(conversation) : conversation
    const head = readHead(first)
    // A letter, a digit and letters: no other word of a conversation has it in it
    const run = `r${(runs++).toString().padStart(3, "0")}q`
    const names = new Map([
      ["run", run],
      ["organization", opening.organization],
      ["admin", opening.id]
    ])
    const tokens = new Map<string, string | undefined>([
      ["admin", token],
      ["anonymous", undefined]
    ])
    const administrators: Array<string> = []
    for (const entry of head.people) {
      for (const [name, person] of Object.entries(typeof entry === "string" ? { [entry]: cast[entry] ?? {} } : entry)) {
        const made = await (head.enrolled ? enroll : store)(name, person, run)
        if (person.roles !== undefined && person.roles.length > 0) administrators.push(made.id)
        names.set(name, made.id)
        tokens.set(name, made.token)
      }
    }

    const fill = (value: unknown): unknown => {
      if (typeof value === "string") return fillText(value)
      if (Array.isArray(value)) return value.map(fill)
      return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [fillText(key), fill(inner)])) : value
    }
    const fillText = (text: string): string =>
      text
        .replaceAll(/\{(\d+)\*(.)\}/gu, (_, count: string, character: string) => character.repeat(Number(count)))
        .replaceAll(/\{now(?:([+-]|%2B)(\d+)([smhd]))?\}/g, (_, sign = "+", count = "0", unit = "s") =>
          new Date(now() + (sign === "-" ? -1 : 1) * Number(count) * (units.get(unit) ?? 0)).toISOString()
        )
        .replaceAll(/\{today(?:-(\d+)d)?\}/g, (_, days = "0") => new Date(now() - Number(days) * 86_400_000).toISOString().slice(0, 10))
        .replaceAll(/\{hour(?:\+(\d+)h)?\}/g, (_, hours = "0") =>
          new Date(now() + Number(hours) * 3_600_000).toISOString().replace(/:\d\d:.*/, ":00:00Z")
        )
        .replaceAll(/\{clock\+(\d+)h\}/g, (_, hours: string) => String(new Date(now() + Number(hours) * 3_600_000).getUTCHours()))
        .replaceAll(/\{(\w+)(\^?)\}/g, (whole, name: string, capitals: string) => {
          const value = names.get(name)
          return value === undefined ? whole : capitals === "" ? value : value.toUpperCase()
        })

    const credentialOf = (as = "admin"): string | undefined => (tokens.has(as) ? tokens.get(as) : fillText(as))

    const ask = ({ as, base64, body, call, headers, type }: Request): Promise<Answer> => {
      const filled = {
        body: fill(body),
        headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, fillText(value)]))
      }
      return send(fillText(call), credentialOf(as), { ...filled, type, ...(base64 === undefined ? {} : { base64: fillText(base64) }) })
    }

    const compare = (step: Exchange, { body, status, type }: Answer): ReadonlyArray<string> => {
      if (status !== step.status) return [`expected ${step.status}, not ${status} ${JSON.stringify(body)}`]
      const comparison = {
        ignore: new Set([...head.ignore, ...step.ignore]),
        unordered: new Set([...head.unordered, ...step.unordered].map(fillText)),
        now
      }
      const named = (isObject(body) && Array.isArray(body.validations) ? body.validations : []).map((entry: unknown) => at(entry, "field"))
      const timesNamed = (field: string) => named.filter((name) => name === fillText(field)).length
      return [
        ...step.fields
          .filter((field, index) => step.fields.slice(0, index + 1).filter((other) => other === field).length > timesNamed(field))
          .map((field) => `${field} is not named as a field: ${JSON.stringify(body)}`),
        ...(step.type_is === undefined || type === step.type_is ? [] : [`expected ${step.type_is}, not ${type}`]),
        ...(step.answer === undefined ? [] : differences(fill(step.answer), body, comparison)),
        ...(step.shape === undefined ? [] : differences(step.shape, shapeOf(body), comparison)),
        ...Object.entries(step.only ?? {}).flatMap(([path, value]) =>
          differences(fill(value), at(body, fillText(path)), comparison, fillText(path))
        )
      ]
    }

    const compareRights = async ({ allowed, as, object }: typeof Rights.Type): Promise<ReadonlyArray<string>> => {
      const kinds = Object.entries(head.actions)
      const checks = kinds.flatMap(([resource_type, actions]) =>
        actions.map((action) => [`${resource_type}:${action}`, { object: { resource_type, ...object }, action }] as const)
      )
      const { body } = await ask(readRequest({ as, call: "POST /authcheck", body: { checks: Object.fromEntries(checks) } }))
      const found = kinds.flatMap(([kind, actions]) => {
        const granted = actions.filter((action) => at(body, `${kind}:${action}`) === true)
        return granted.length === 0 ? [] : [`${kind}:${granted.length === actions.length ? "*" : granted.join(",")}`]
      })
      const expected = allowed === "" ? [] : allowed.split(" ")
      return [
        ...expected.filter((text) => !found.includes(text)).map((text) => `${as} should be allowed ${text}`),
        ...found.filter((text) => !expected.includes(text)).map((text) => `${as} should not be allowed ${text}`)
      ]
    }

    /** How many notifications earlier steps have seen, by the text in them. */
    const heard = new Map<string, number>()

    const streams = new Map<string, OpenStream>()
    const streamOf = (name: string): OpenStream => given(streams.get(name), `stream ${name}`)

    const pathOf = (call: string): string => fillText(call).replace(/^GET /, "")

    const openSocket = ({ as, call, open, status }: typeof Open.Type): Promise<ReadonlyArray<string>> => {
      const socket = new WebSocket(addressOf(pathOf(call)).replace(/^http/, "ws"), {
        headers: { [header]: credentialOf(as) ?? "" }
      })
      const stream: OpenStream = {
        messages: [],
        closed: undefined,
        send: (message) => socket.send(message),
        close: () => socket.close()
      }
      streams.set(open, stream)
      socket.on("message", (data) => stream.messages.push(parsed(String(data))))
      socket.on("close", (code) => (stream.closed = code))
      const opened = new Promise<number>((resolve) => {
        socket.on("open", () => resolve(101))
        socket.on("unexpected-response", (_, response) => {
          resolve(response.statusCode ?? 0)
          response.destroy()
        })
        socket.on("error", () => resolve(0))
      })
      return opened.then((given) => (given === status ? [] : [`expected ${status}, not ${given}`]))
    }

    const openEvents = async ({ as, call, open, status }: typeof Open.Type): Promise<ReadonlyArray<string>> => {
      const stop = new AbortController()
      const response = await fetch(addressOf(pathOf(call)), { headers: { [header]: credentialOf(as) ?? "" }, signal: stop.signal })
      const stream: OpenStream = { messages: [], closed: undefined, send: () => {}, close: () => stop.abort() }
      streams.set(open, stream)
      const read = async (body: NonNullable<Response["body"]>) => {
        let text = ""
        for await (const part of body.pipeThrough(new TextDecoderStream())) {
          const events = (text + part).split("\n\n")
          text = events.pop() ?? ""
          for (const event of events) {
            const [, name] = /^event: ?(.*)$/m.exec(event) ?? []
            const [, data = ""] = /^data: ?(.*)$/m.exec(event) ?? []
            if (name !== "ping") stream.messages.push({ event: name, data: parsed(data) })
          }
        }
      }
      if (response.body !== null) read(response.body).catch(() => {})
      return response.status === status ? [] : [`expected ${status}, not ${response.status}`]
    }

    const receive = async ({ closed, ignore, messages, only, receive, through }: typeof Receive.Type): Promise<ReadonlyArray<string>> => {
      const stream = streamOf(receive)
      const count = typeof messages === "number" ? messages : messages.length
      await untilComplete(patience, () => {
        if (through === undefined) return undefined
        const passed = stream.messages.findIndex((message) => Object.entries(through).every(([path, value]) => at(message, path) === value))
        if (passed < 0) return `${receive}: ${JSON.stringify(stream.messages)} has no message with ${JSON.stringify(through)}`
        stream.messages.splice(0, passed + 1)
        return undefined
      })
      await untilComplete(patience, () => {
        if (stream.messages.length < count) return `${receive}: ${JSON.stringify(stream.messages)} instead of ${count} messages`
        return closed !== undefined && stream.closed === undefined ? `${receive} is still open` : undefined
      })
      const taken = stream.messages.splice(0, count)
      const comparison = { ignore: new Set(ignore), unordered: new Set<string>(), now }
      return [
        ...(typeof messages === "number" ? [] : differences(fill(messages), taken, comparison, "messages")),
        ...Object.entries(only ?? {}).flatMap(([path, value]) =>
          differences(fill(value), at(taken, fillText(path)), comparison, fillText(path))
        ),
        ...(closed === undefined || closed === stream.closed ? [] : [`expected to be closed with ${closed}, not ${stream.closed}`])
      ]
    }

    /** Takes what the webhook's receiver got, once there is as much of it. */
    const hooked = async ({ hook, ignore, messages, only }: typeof Hook.Type): Promise<ReadonlyArray<string>> => {
      const hooks = given(stage.hooks, "webhook")
      const wanted = hook.map(fillText)
      const arrived = () => hooks.filter((body) => wanted.every((text) => JSON.stringify(body).includes(text)))
      const count = typeof messages === "number" ? messages : messages.length
      await untilComplete(patience, () =>
        arrived().length < count ? `${JSON.stringify(hooks)} instead of ${count} with ${wanted.join(" ")}` : undefined
      )
      const taken = arrived()
      for (const body of taken) hooks.splice(hooks.indexOf(body), 1)
      const comparison = { ignore: new Set(ignore), unordered: new Set(["messages"]), now }
      return [
        ...(taken.length === count ? [] : [`expected ${count} webhooks, not ${taken.length}: ${JSON.stringify(taken)}`]),
        ...(typeof messages === "number" ? [] : differences(fill(messages), taken, comparison, "messages")),
        ...Object.entries(only ?? {}).flatMap(([path, value]) =>
          differences(fill(value), at(taken, fillText(path)), comparison, fillText(path))
        )
      ]
    }

    const wait = async ({ as, until, wait }: typeof Wait.Type): Promise<ReadonlyArray<string>> => {
      const request = readRequest({ as, call: `GET ${wait}` })
      await untilComplete(patience, async () => {
        const answer = await ask(request)
        const text = JSON.stringify(answer.body)
        const missed = Object.entries(until).filter(([path, values]) =>
          path === "text:"
            ? !values.every((value) => text.includes(String(value)))
            : !values.includes(path === "status:" ? answer.status : at(answer.body, fillText(path)))
        )
        return missed.length > 0 ? `${JSON.stringify(missed)} in ${answer.status} ${text?.slice(0, 2000)}` : undefined
      })
      return []
    }

    const compareLog = async ({ errors, log }: typeof Log.Type): Promise<ReadonlyArray<string>> => {
      const { body } = await ask(readRequest({ call: `GET ${log}` }))
      const outputs = (Array.isArray(body) ? body : []).flatMap((line: unknown) =>
        at(line, "log_level") === "error" ? [textAt(line, "output")] : []
      )
      const begun = [...new Set(outputs.filter((output) => output.startsWith("Error:")))]
      return differences(errors, begun.toSorted(), { ignore: new Set(), unordered: new Set(["errors"]), now }, "errors")
    }

    const play = async (step: Step): Promise<ReadonlyArray<string>> => {
      if ("together" in step) {
        const statuses = (await Promise.all(step.together.map(ask))).map(({ status }) => status).toSorted()
        return differences(step.statuses, statuses, { ignore: new Set(), unordered: new Set(), now })
      }
      if ("allowed" in step) return compareRights(step)
      if ("open" in step) return step.status === 200 ? openEvents(step) : openSocket(step)
      if ("receive" in step) return receive(step)
      if ("hook" in step) return hooked(step)
      if ("quiet" in step) {
        await given(stage.quiet, "notifications")()
        return []
      }
      if ("wait" in step) return wait(step)
      if ("log" in step) return compareLog(step)
      if ("mail" in step) {
        names.set(step.keep, await given(stage.passcode, "passcodes")(fillText(step.mail)))
        return []
      }
      if ("source" in step) {
        const content = await given(stage.source, "sources")(step.source)
        const upload = { base64: Buffer.from(content).toString("base64"), type: "application/x-tar" }
        const { body, status } = await send("POST /files", credentialOf(step.as), upload)
        if (step.keep !== undefined) names.set(step.keep, textAt(body, "hash"))
        const isRefused = status >= 300
        return (step.status === undefined && !isRefused) || step.status === status
          ? []
          : [`expected ${step.status ?? "a file"}, not ${status}`]
      }
      if ("agent" in step) {
        await given(stage.report, "agents")(fillText(step.agent), step.lifecycle)
        return []
      }
      if ("held" in step) {
        await given(stage.held, "jobs")()
        return []
      }
      if ("hold" in step) {
        given(stage.hold, "jobs")(step.hold)
        return []
      }
      if ("told" in step) {
        const names = await given(stage.told, "notifications")(fillText(step.told))
        const differing = differences(step.names, names.slice(heard.get(step.told)), { ignore: new Set(), unordered: new Set(), now })
        heard.set(step.told, names.length)
        return differing
      }
      if ("row" in step) {
        const fields = Object.entries(step.fields).map(([name, value]) => [name, value === null ? null : fillText(value)] as const)
        await given(stage.change, "rows")(step.row, fillText(step.id), Object.fromEntries(fields))
        return []
      }
      if ("insert" in step) {
        const row = Object.entries(step.values).map(([name, value]) => [name, typeof value === "string" ? fillText(value) : value] as const)
        await given(stage.insert, "rows")(step.insert, Object.fromEntries(row))
        return []
      }
      if ("send" in step) {
        streamOf(step.send).send(fillText(step.message))
        return []
      }
      if ("close" in step) {
        streamOf(step.close).close()
        return []
      }
      const answer = await ask(step)
      for (const [name, path] of Object.entries(step.keep)) {
        const value = at(answer.body, fillText(path))
        if (value !== undefined && value !== null) names.set(name, String(value))
      }
      if (step.login !== undefined) tokens.set(step.login, textAt(answer.body, "session_token"))
      return compare(step, answer)
    }

    const found: Array<string> = []
    try {
      for (const [index, given] of steps.entries()) {
        const step = readStep(given)
        const where = `line ${index + 2}${"call" in step ? `, ${step.call}` : ""}`
        const differing = await play(step).catch((error: unknown) => {
          throw new Error([...found, `${where}: ${String(error)}`].join("\n"))
        })
        found.push(...differing.map((difference) => `${where}: ${difference}`))
      }
    } finally {
      for (const stream of streams.values()) stream.close()
      stage.hold?.(false)
      // Administrators are notified of what later conversations do: of each user whom they make
      for (const id of administrators) await send(`PUT /users/${id}/roles`, token, { body: { roles: [] } })
    }
    return found
  }
}
