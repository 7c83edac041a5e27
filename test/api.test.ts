/** The packages' public names are those of their reports: a name comes or goes on purpose, with `npm run build && npm run api`. */
import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { packages, reportFile, reportOf } from "../scripts/api.mjs"
import { servicesFile, servicesPage } from "../scripts/services.mjs"

it.each(packages)("the public names of %s are those of its report", async (name) => {
  expect(await reportOf(name)).toBe(await readFile(reportFile(name), "utf8"))
})

it("the page of services is made of the declarations", async () => {
  expect(await servicesPage()).toBe(await readFile(servicesFile, "utf8"))
})
