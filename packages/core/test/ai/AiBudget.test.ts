import { type BudgetInputs, effectiveBudget, exportedPeriod, monthOf, spendDays, spendTable } from "@atelier/core/ai"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Duration, Either } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"

const id = (last: number) => Uuid.Uuid.make(`00000000-0000-0000-0000-00000000000${last}`)
const at = (text: string) => Timestamp.Timestamp.make(text)
const day = (number: number) => at(`2026-01-0${number}T00:00:00.000Z`)

const none: BudgetInputs = { override: null, budgets: [], memberships: [] }
const budget = (group: number, organization: number, spend_limit_micros: number, joined = 1) => ({
  group_id: id(group),
  organization_id: id(organization),
  spend_limit_micros,
  joined_at: day(joined)
})
const membership = (organization: number, joined: number, is_default = false) => ({
  organization_id: id(organization),
  joined_at: day(joined),
  is_default
})

it("is the override, or the highest budget of the groups", () => {
  const budgets = [budget(1, 8, 5), budget(2, 8, 9, 2), budget(3, 9, 9, 1), budget(4, 9, 9, 1)]
  expect(effectiveBudget({ ...none, budgets })).toStrictEqual({
    group_id: id(3),
    organization_id: id(9),
    limit: { spend_limit_micros: 9, limit_source: "group" }
  })
  const override = { group_id: id(1), organization_id: id(8), spend_limit_micros: 0 }
  expect(effectiveBudget({ ...none, budgets, override })).toMatchObject({
    group_id: id(1),
    limit: { spend_limit_micros: 0, limit_source: "user_override" }
  })
})

it("has no bound without a budget", () => {
  const memberships = [membership(7, 3), membership(8, 2), membership(9, 2)]
  expect(effectiveBudget({ ...none, memberships })).toStrictEqual({ group_id: id(8), organization_id: id(8), limit: null })
  expect(effectiveBudget({ ...none, memberships: [...memberships, membership(6, 9, true)] })).toMatchObject({ group_id: id(6) })
  expect(effectiveBudget(none)).toBeNull()
})

it("is independent of the order of its inputs", () => {
  const candidates = fc.array(
    fc.record({ group: fc.integer({ min: 1, max: 9 }), limit: fc.integer({ min: 0, max: 3 }), joined: fc.integer({ min: 1, max: 3 }) }),
    { maxLength: 6 }
  )
  fc.assert(
    fc.property(candidates, (all) => {
      const budgets = all.map(({ group, joined, limit }) => budget(group, group, limit, joined))
      const memberships = all.map(({ group, joined }) => membership(group, joined))
      const forwards = effectiveBudget({ ...none, budgets, memberships })
      expect(effectiveBudget({ ...none, budgets: budgets.toReversed(), memberships })).toStrictEqual(forwards)
      expect(forwards?.limit?.spend_limit_micros ?? 0).toBe(Math.max(0, ...all.map(({ limit }) => limit)))
      const without = { ...none, memberships }
      expect(effectiveBudget({ ...without, memberships: memberships.toReversed() })).toStrictEqual(effectiveBudget(without))
    })
  )
})

it("lasts for a month in UTC, and each day counts once", () => {
  expect(monthOf(at("2026-12-31T23:59:59.999Z"))).toStrictEqual({
    period_start: "2026-12-01T00:00:00.000Z",
    period_end: "2027-01-01T00:00:00.000Z"
  })
  expect(spendDays(monthOf(at("2028-02-10T00:00:00.000Z")))).toStrictEqual({ first: "2028-02-01", last: "2028-02-29" })
})

it("is exported for a period of at most 31 days that is kept", () => {
  const now = at("2026-11-20T12:00:00.000Z")
  const period = (period_start: string, period_end: string, retention = Duration.days(60)) =>
    Either.match(exportedPeriod({ period_start, period_end }, now, retention), {
      onLeft: ({ validations }) => validations?.map(({ field }) => field),
      onRight: ({ period_end, period_start }) => [period_start.slice(0, 10), period_end.slice(0, 10)]
    })
  expect(period("", "")).toStrictEqual(["2026-11-01", "2026-12-01"])
  expect(period("", "", Duration.days(10))).toStrictEqual(["2026-11-10", "2026-12-01"])
  expect(period("", "", Duration.zero)).toStrictEqual(["2026-11-01", "2026-12-01"])
  expect(period("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z")).toStrictEqual(["2026-10-01", "2026-11-01"])
  expect(period("2020-10-01T00:00:00Z", "2020-11-01T00:00:00Z", Duration.zero)).toStrictEqual(["2020-10-01", "2020-11-01"])
  expect(period("2026-10-01T00:00:00Z", "")).toStrictEqual(["period_end"])
  expect(period("", "2026-10-01T00:00:00Z")).toStrictEqual(["period_start"])
  expect(period("yesterday", "2026-10-01T00:00:00Z")).toStrictEqual(["period_start"])
  expect(period("2026-10-01T00:00:00Z", "2026-11-31T00:00:00Z")).toStrictEqual(["period_end"])
  expect(period("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z")).toStrictEqual(["period_end"])
  expect(period("2026-10-01T00:00:00Z", "2026-11-01T00:00:01Z")).toStrictEqual(["period_end"])
  expect(period("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")).toStrictEqual(["period_start"])
})

it("is exported so that nothing in it is a formula, or another cell", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."=+-@\t\r\n\",'ab") }), (text) => {
      const tokens = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4, cost_micros: 5 }
      const names = { username: text, group_name: text, model: text, provider: text, provider_name: text }
      const ids = { user_id: id(1), group_id: id(2), organization_id: id(3) }
      const line = spendTable({ name: "org" }, monthOf(day(1))).line({ ...ids, ...names, ...tokens })
      const cells = Array.from(line.slice(0, -1).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g), ([, quoted, bare]) =>
        quoted === undefined ? bare : quoted.replaceAll('""', '"')
      )
      const shown = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
      const organization = [id(3), "org"]
      expect(cells).toStrictEqual([
        id(1),
        shown,
        id(2),
        shown,
        ...organization,
        ...["model", "provider", "provider_name"].map(() => shown),
        ...Object.values(tokens).map(String),
        "2026-01-01T00:00:00.000Z",
        "2026-02-01T00:00:00.000Z"
      ])
    })
  )
})
