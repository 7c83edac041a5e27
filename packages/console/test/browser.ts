/** The console in a real browser, over the real service: one server and one browser for a file, and a window for each role. */
import type { Browser, Page } from "playwright-core"
import type { Stored } from "@atelier/core"
import { Postgres } from "@atelier/storage-postgres"
import type { Layer } from "effect"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest"
import { folder, listPath } from "../src/index.js"
import { chromiumPath, expectAccessible, startChromium } from "../../../test/outside/chromium.js"
import { type Person, type ServerOptions, startServer, type TestServer } from "../../../test/http/server.js"
import { type Database, databasesOf, lastingDatabaseUrl, sqliteIn } from "../../../test/store/databases.js"
import { size, type Window, windowsOf } from "./windows.js"

/** A user's role. A user with the role `nobody` belongs to no organization. */
export type Role = "owner" | "member" | "auditor" | "template-admin" | "nobody"

export interface ConsoleTest {
  /** Another one after a restart. */
  readonly server: TestServer
  /** Where browsers find the service, without a slash at its end. */
  readonly base: string
  /** The person of a role; the same one each time. */
  readonly person: (role: Role) => Promise<Person>
  /** A window without what others have stored, signed in unless no role is given. */
  readonly open: (role?: Role) => Promise<Window>
  /** What windows have complained of. A test that provokes a complaint takes it out. */
  readonly complaints: Array<string>
  /** Ends the server, does something while it is away, and starts it on the same port and the same database, which has to last. */
  readonly restart: (whileAway: () => Promise<void>) => Promise<void>
}

const isBuilt = existsSync(fileURLToPath(new URL(listPath, folder)))

if (!isBuilt) process.stderr.write("The console has not been built (npm run build): its tests in a browser are skipped.\n")

/** Whether there is a browser, and a console for it. */
export const canBrowse = chromiumPath !== undefined && isBuilt

const fieldsOf = (role: Exclude<Role, "owner">) => ({
  username: role,
  email: `${role}@example.com`,
  name: role.replace("-", " ").replace(/^./, (first) => first.toUpperCase()),
  rbac_roles: role === "auditor" || role === "template-admin" ? [role] : []
})

/** Starts a server and a browser. */
export const startConsole = async (
  storage: Layer.Layer<Stored, unknown>,
  options: ServerOptions = {}
): Promise<ConsoleTest & { readonly close: () => Promise<void> }> => {
  const { accessUrl: base = "http://atelier.test" } = options
  let server = await startServer(storage, options)
  const owner = server.owner()
  const browser: Browser = await startChromium({ [new URL(base).hostname]: new URL(server.url).host })
  const complaints: Array<string> = []
  const people = new Map<Role, Promise<Person>>()

  const person = (role: Role): Promise<Person> => {
    if (role === "owner") return Promise.resolve(owner)
    const known = people.get(role) ?? (role === "nobody" ? server.aPerson({ fields: fieldsOf(role) }) : server.aMember(fieldsOf(role)))
    people.set(role, known)
    return known
  }

  const openWindow = windowsOf(browser, base, complaints)
  const open = async (role?: Role): Promise<Window> => openWindow(role === undefined ? undefined : (await person(role)).token)

  const restart = async (whileAway: () => Promise<void>): Promise<void> => {
    const { port } = new URL(server.url)
    await server.close()
    await whileAway()
    server = await startServer(storage, { ...options, empty: true, port: Number(port) })
  }

  return {
    get server() {
      return server
    },
    restart,
    base,
    person,
    open,
    complaints,
    close: async () => {
      await browser.close()
      await server.close()
    }
  }
}

type Define = (console: () => ConsoleTest) => void

type Store = readonly [kind: Database[0], storage: () => Promise<Layer.Layer<Stored, unknown>>]

export interface SuiteOptions extends ServerOptions {
  /** Whether a test that is tried again meets the server and the browser of its first attempt: those of a suite that prepares them. Default: new ones. */
  readonly isKept?: boolean
}

/**
 * A suite over the console on each of some databases. A window that complains fails its test. A test that is tried again begins with an empty
 * deployment: what its first attempt has made, such as a template, would fail the next one.
 */
const describeConsoleOn = (
  stores: ReadonlyArray<Store>,
  name: string,
  define: Define,
  { isKept = false, ...options }: SuiteOptions
): void =>
  describe.skipIf(!canBrowse).each(stores)(`${name} on %s`, (_, storage) => {
    let running: (ConsoleTest & { readonly close: () => Promise<void> }) | undefined
    beforeAll(async () => {
      running = await startConsole(await storage(), options)
    })
    beforeEach(async ({ task }) => {
      if (isKept || (task.result?.retryCount ?? 0) === 0) return
      await running?.close()
      running = await startConsole(await storage(), options)
    })
    afterEach(() => {
      expect(running?.complaints.splice(0)).toStrictEqual([])
    })
    afterAll(() => running?.close())
    define(() => {
      if (running === undefined) throw new Error("the server has not started")
      return running
    })
  })

/** A suite over the console, on the database that its name decides. */
export const describeConsole = (name: string, define: Define, options: SuiteOptions = {}): void =>
  describeConsoleOn(
    databasesOf(name).map(([kind, storage]) => [kind, () => Promise.resolve(storage)]),
    name,
    define,
    options
  )

/** A suite over the console, on the database that its name decides, which outlasts a restart of its server. */
export const describeLastingConsole = (name: string, define: Define, options: SuiteOptions = {}): void => {
  const folders: Array<string> = []
  const lasting: Readonly<Record<Database[0], Store[1]>> = {
    SQLite: async () => {
      const folder = await mkdtemp(join(tmpdir(), "atelier-console-"))
      folders.push(folder)
      return sqliteIn(folder)
    },
    PostgreSQL: async () => Postgres.layer({ url: await lastingDatabaseUrl(), maxConnections: 5 })
  }
  describeConsoleOn(
    databasesOf(name).map(([kind]) => [kind, lasting[kind]]),
    name,
    define,
    options
  )
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
}

/** The widths that every screen works at. */
export const widths = [size.width, 768, 320] as const

/** Expects that nothing of a screen lies outside of its width, at each of the widths. */
export const expectNoSidewaysScroll = async (page: Page): Promise<void> => {
  for (const width of widths) {
    await page.setViewportSize({ ...size, width })
    const overflowing = await page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll("main")]
        .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
        .map(({ clientWidth, scrollWidth, tagName }) => `${tagName.toLowerCase()}: ${scrollWidth} of ${clientWidth}`)
    )
    expect([page.url(), width, overflowing]).toStrictEqual([page.url(), width, []])
  }
  await page.setViewportSize(size)
}

/** Expects what holds for every screen: no barrier in either theme, and no sideways scroll. */
export const expectWellMade = async (page: Page): Promise<void> => {
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: "light" })
  await expectNoSidewaysScroll(page)
}
