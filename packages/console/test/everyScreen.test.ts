/**
 * What holds for every screen and every role: it comes to rest, has no barrier in either theme and no sideways scroll, shows hostile texts as texts,
 * and says so where a role may not see it. `npm test` measures the owner's screens; with `EVERY_SCREEN=1` those of every role.
 */
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import type { TestServer } from "../../../test/http/server.js"
import { expectAccessible } from "../../../test/outside/chromium.js"
import { describeConsole, type Role, widths } from "./browser.js"
import { addressOf, screens } from "./screens.js"
import { hostile, type Places, seed, seededOptions } from "./seeded.js"
import { harmOf, isRefused, misfitsOf, nextPicture, showsAttack, visitorOf } from "./visiting.js"

const isMeasured = (role: Role): boolean => role === "owner" || process.env["EVERY_SCREEN"] !== undefined

const ofWorkspace = [
  "workspace",
  "terminals",
  "files",
  "processes",
  "builds",
  "build",
  "workspace-parameters",
  "workspace-schedule",
  "workspace-sharing",
  "workspace-settings"
]

const ofTemplateAdmins = [
  "starter-templates",
  "template-editor",
  "template-settings",
  "template-schedule",
  "template-permissions",
  "template-variables"
]
const ofOwners = ["organization-settings", "provisioners", "health", "membership-sync", "group-sync"]
const ofAuditors = ["audit", "options", "deployment-appearance", "notification-methods", "applications", "proxies", "licenses", "prebuilds"]
const ofMembers = [
  "template",
  "template-versions",
  "template-version",
  "template-presets",
  "workspace-form",
  "members",
  "groups",
  "group",
  "roles",
  "role",
  "new-role"
]

/** The screens that each role may not see; the workspace and the task are the owner's. */
const refused: Readonly<Record<Role, ReadonlyArray<string>>> = {
  owner: [],
  member: [...ofWorkspace, "task", ...ofTemplateAdmins, ...ofOwners, ...ofAuditors, "template-insights", "insights", "user"],
  auditor: [...ofWorkspace, "task", ...ofTemplateAdmins, ...ofOwners],
  "template-admin": ["task", ...ofOwners, ...ofAuditors],
  nobody: [...ofWorkspace, "task", ...ofTemplateAdmins, ...ofOwners, ...ofAuditors, "template-insights", "insights", "user", ...ofMembers]
}

/** Screens of one test: measuring them takes most of its time. */
const together = 20

const partsOf = (role: Role): ReadonlyArray<typeof screens> => {
  const size = isMeasured(role) ? together : screens.length
  return Array.from({ length: Math.ceil(screens.length / size) }, (_, part) => screens.slice(part * size, (part + 1) * size))
}

/** A seeded agent only seems to be connected, and a request to it fails. */
const isOfAgent = (complaint: string): boolean => complaint.includes("502 (Bad Gateway)")

/** What is wrong with the looks of a screen. */
const flawsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: "light" })
  const flaws: Array<string> = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate(nextPicture)
    for (const misfit of await misfitsOf(page)) flaws.push(`${width} pixels: ${misfit}`)
  }
  await page.setViewportSize({ width: widths[0], height: 900 })
  return flaws
}

describeConsole(
  "every screen",
  (console) => {
    /** The seeds of each server: a test that is tried again has another one. */
    const seeded = new WeakMap<TestServer, Promise<Places>>()
    const seedsOf = (server: TestServer): Promise<Places> => {
      const places = seeded.get(server) ?? seed(console(), hostile)
      seeded.set(server, places)
      return places
    }
    const check = async (role: Role, part: typeof screens): Promise<void> => {
      const { complaints, open, server } = console()
      const places = await seedsOf(server)
      const { close, go, page } = await open(role)
      await go("/about")
      const visit = visitorOf(page)
      const wrong: Array<readonly [screen: string, flaw: string]> = []
      const shut: Array<string> = []
      let attacks = 0
      for (const [name, path] of part) {
        const note = (flaws: ReadonlyArray<string>): void => void wrong.push(...flaws.map((flaw) => [name, flaw] as const))
        try {
          await visit(addressOf(path, places))
          if (await isRefused(page)) shut.push(name)
          if (await showsAttack(page)) attacks += 1
          note(await harmOf(page))
          if (isMeasured(role)) note(await flawsOf(page))
        } catch (error) {
          note([String(error), JSON.stringify((error as { readonly actual?: unknown }).actual)])
        }
        note(complaints.splice(0).filter((complaint) => !isOfAgent(complaint)))
      }
      const names = new Set(part.map(([name]) => name))
      expect(wrong).toStrictEqual([])
      expect(shut.toSorted()).toStrictEqual(refused[role].filter((name) => names.has(name)).toSorted())
      // Otherwise the texts that attack are somewhere else than they should be
      if (names.has("templates")) expect(attacks > 0).toBe(role !== "nobody")
      await close()
    }

    for (const role of Object.keys(refused) as ReadonlyArray<Role>)
      for (const [index, part] of partsOf(role).entries())
        it(`is what a user with the role ${role} may see, at rest and well made, part ${index + 1}`, () => check(role, part))
  },
  seededOptions
)
