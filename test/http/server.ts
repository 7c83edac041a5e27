/** The whole service on a real socket, for tests of its interface. */
import type { Stored } from "@atelier/core"
import { Atelier, type Options } from "@atelier/http"
import { serverOptions } from "@atelier/http/node"
import { Argon2Hasher } from "@atelier/node"
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { ApiKeys, PasswordHasher, ownProgram, type User, UserRepository, Users, type UserWithOrganizations } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Clock, Duration, Effect, type Layer, Redacted, Schema } from "effect"
import { createServer } from "node:http"
import { afterAll, beforeAll, describe, it } from "vitest"
import { aUser } from "../records/builders.js"
import { type Database, databases, databasesOf, oneDatabase } from "../store/databases.js"
import { checkAnswer } from "../description/description.js"
import { exchange } from "./request.js"

export interface Call {
  /** A session or API token. */
  readonly token?: string
  /** Sent as JSON; a text and bytes are sent as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the answer; undefined without a body. */
  readonly body: unknown
  /** The answer read by a schema; fails where it is something else. */
  readonly as: <A, I>(schema: Schema.Schema<A, I>) => A
}

/** A user with a session. */
export interface Person {
  readonly user: User
  readonly token: string
}

export interface TestServer {
  readonly url: string
  readonly atelier: Atelier.Atelier
  /** Calls `/api/v2` followed by the path, or the path itself when it begins with `//`. */
  readonly call: (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD", path: string, call?: Call) => Promise<Answer>
  /** Runs an effect on the server's services. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Atelier.Services>) => Promise<A>
  /** Moves the server's clock forward; sleeps do not end earlier. */
  readonly advance: (duration: Duration.DurationInput) => void
  /** The first user. */
  readonly owner: () => Person
  /** A new user who is a member of the default organization, with a session. */
  readonly aMember: (fields?: Partial<User>, organizationRoles?: ReadonlyArray<string>) => Promise<Person>
  /** A new user with a session, whose data the test decides. */
  readonly aPerson: (person: NewPerson) => Promise<Person>
  readonly close: () => Promise<void>
}

export interface NewPerson {
  readonly fields: Partial<User>
  /** Without one, the user cannot log in by a password. */
  readonly password?: string
  /** The roles in the default organization; of a user who is no member of it, undefined. */
  readonly organizationRoles?: ReadonlyArray<string> | undefined
}

/** The password of the first user. */
export const ownerPassword = "SomeSecurePassword!"

/** The live clock, moved forward by as much as the test wants. */
const movableClock = (): { readonly clock: Clock.Clock; readonly advance: (duration: Duration.DurationInput) => void } => {
  const live = Clock.make()
  let offset = 0
  const millis = (): number => live.unsafeCurrentTimeMillis() + offset
  const nanos = (): bigint => live.unsafeCurrentTimeNanos() + BigInt(offset) * 1_000_000n
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => live.sleep(duration)
  }
  return { clock, advance: (duration) => void (offset += Duration.toMillis(duration)) }
}

const send = async (
  url: string,
  method: string,
  { body, headers, token }: Call,
  check: (answer: Pick<Answer, "status" | "headers" | "text">) => void
): Promise<Answer> => {
  const answer = await exchange(url, {
    method,
    headers: { ...(token === undefined ? {} : { "Service-Session-Token": token }), ...headers },
    body: body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  })
  check(answer)
  const { text } = answer
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true
  const parsed: unknown = isJson && text !== "" ? JSON.parse(text) : undefined
  return { ...answer, body: parsed, as: (schema) => Schema.decodeUnknownSync(schema)(parsed) }
}

export interface ServerOptions extends Partial<Options> {
  /** Leaves the deployment without a user. */
  readonly empty?: boolean
  /** The port that it listens at; default a free one. */
  readonly port?: number
}

/** Hashes in no time worth mentioning: most tests are about something else. */
const quickHasher = Argon2Hasher.layerOf({ memoryCost: 8, timeCost: 1, parallelism: 1, pbkdf2Iterations: 100 })

/** Starts the service on a store, without limits on the rate of calls and without a log. */
export const startServer = async (
  storage: Layer.Layer<Stored, unknown>,
  { empty = false, port = 0, ...options }: ServerOptions = {}
): Promise<TestServer> => {
  const { advance, clock } = movableClock()
  const atelier = await Atelier.make({
    accessUrl: "http://atelier.test",
    storage,
    passwordHasher: quickHasher,
    logLevel: "none",
    clock,
    ...options,
    options: { dangerousDisableRateLimits: true, ...options.options }
  })
  const server = createServer(serverOptions, atelier.handler)
  server.on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const url = `http://127.0.0.1:${address.port}`

  const run: TestServer["run"] = (effect) => atelier.runtime.runPromise(effect)
  const wire = options.compatibility === undefined ? "standard" : "reference"
  const basePath = options.basePath ?? ""
  const call: TestServer["call"] = (method, path, options = {}) => {
    const target = path.startsWith("//") ? path.slice(1) : `/api/v2${path}`
    return send(`${url}${target}`, method, options, ({ headers, status, text }) =>
      checkAnswer(wire, {
        method,
        path: (target.split("?")[0] ?? "").slice(basePath.length),
        status,
        contentType: headers.get("content-type"),
        text
      })
    )
  }

  /** A session of a user, without knowing its password. */
  const session = (user: UserWithOrganizations): Effect.Effect<string, unknown, Atelier.Services> =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const organizations = yield* Effect.forEach(user.organization_ids, (id) =>
        Effect.flatten(Effect.flatMap(OrganizationRepository, ({ byId }) => byId(id)))
      )
      const actor = sessionActor({
        userId: user.id,
        siteRoles: user.rbac_roles,
        memberships: organizations.map((organization) => ({
          organizationId: organization.id,
          roles: [],
          defaultMemberRoles: organization.default_org_member_roles,
          shareMode: organization.shareable_workspace_owners,
          isServiceAccount: user.is_service_account
        }))
      })
      return Redacted.value(yield* Effect.provideService(keys.create("me"), CurrentActor, actor))
    })

  const aPerson: TestServer["aPerson"] = ({ fields, organizationRoles, password }) =>
    run(
      Effect.gen(function* () {
        const users = yield* UserRepository
        const organizations = yield* OrganizationRepository
        // Who has a session has been seen, and does not become dormant
        const user = yield* aUser({ last_seen_at: yield* Timestamp.now, ...fields })
        const hash = password === undefined ? null : yield* (yield* PasswordHasher).hash(Redacted.make(password))
        yield* users.insert(user, hash)
        if (organizationRoles === undefined) return { user, token: yield* session({ ...user, organization_ids: [] }) }
        const { id } = yield* Effect.flatten(organizations.default)
        yield* organizations.addMember({
          organization_id: id,
          user_id: user.id,
          roles: organizationRoles,
          created_at: yield* Timestamp.now
        })
        return { user, token: yield* session({ ...user, organization_ids: [id] }) }
      })
    )

  const aMember: TestServer["aMember"] = (fields = {}, organizationRoles = []) => aPerson({ fields, organizationRoles })

  const createOwner = Effect.gen(function* () {
    const password = Redacted.make(ownerPassword)
    const { user_id } = yield* (yield* Users).createFirst({ email: "owner@example.com", username: "owner", name: "", password }, ownProgram)
    const user = yield* Effect.flatten((yield* UserRepository).byId(user_id))
    return { user, token: yield* session(user) } satisfies Person
  })
  // By services: the first call to a group of endpoints loads it
  const owner = empty ? undefined : await run(createOwner)
  return {
    url,
    atelier,
    call,
    run,
    advance,
    aMember,
    aPerson,
    owner: () => {
      if (owner === undefined) throw new Error("the server was started without a first user")
      return owner
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      // Connections that became WebSockets end with the service
      await Promise.all([closed, atelier.dispose()])
    }
  }
}

/** Runs a test, or one with each of several cases. */
export type Once = Pick<typeof it, "each"> & ((title: string, test: () => Promise<void>) => void)

const never: Once = Object.assign(() => {}, { each: () => () => {} })

/** `once` on a database, named by its kind, for a suite that starts its servers itself. */
export const onceOn = (name: string, kind: Database[0]): Once => (databasesOf(name).some(([each]) => each === kind) ? it : never)

type Define<S> = (server: () => S, once: Once) => void

/** Suites against a server of their own, which `start` starts and its `close` ends. */
export const suitesOn = <S extends { readonly close: () => Promise<void> }>(
  start: (storage: Database[1], options: ServerOptions) => Promise<S>
) => {
  const onStores = (stores: ReadonlyArray<Database>, name: string, define: Define<S>, options: ServerOptions = {}): void =>
    describe.each(stores)(`${name} on %s`, (kind, storage) => {
      let running: S | undefined
      beforeAll(async () => {
        running = await start(storage, options)
      })
      afterAll(() => running?.close())
      define(
        () => {
          if (running === undefined) throw new Error("the server has not started")
          return running
        },
        onceOn(name, kind)
      )
    })
  return {
    /** A suite on each of some databases. */
    onStores,

    /** A suite on the database that its name decides. */
    onOne: (name: string, define: (server: () => S) => void, options?: ServerOptions): void =>
      onStores(databasesOf(name), name, define, options),

    /**
     * A suite on each database, for what no test of storage runs there: callers that race, locks, plans, and what lists and searches find. `once`
     * runs a test on the database that the suite's name decides.
     */
    onEach: (name: string, define: Define<S>, options?: ServerOptions): void => onStores(databases, name, define, options),

    /** A suite on the database that takes the least: decoding, wire formats, pages, protocols and rules. */
    ofInterface: (name: string, define: (server: () => S) => void, options?: ServerOptions): void =>
      onStores(oneDatabase, name, define, options)
  }
}

export const {
  ofInterface: describeInterface,
  onEach: describeServerOnEach,
  onOne: describeServer,
  onStores: describeServerOn
} = suitesOn(startServer)

/** Options of a server that is licensed to nothing. */
export const unlicensed: ServerOptions = { entitlements: { has: () => false } }
