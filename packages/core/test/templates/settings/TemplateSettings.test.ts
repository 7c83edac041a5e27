import { daysOf, otherDays, Timestamp, Uuid, weekdaysOf } from "@atelier/core/platform"
import {
  changedTemplate,
  changedTemplateViolations,
  type ChangedTemplateSettings,
  changesSchedule,
  effectiveTemplate,
  everyoneMayUse,
  newTemplateViolations,
  newTemplateSettings,
  type NewTemplateSettings,
  noBuildTimeStats,
  plainText,
  type Template,
  versionNameViolation
} from "@atelier/core/templates"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const community = { has: () => false }
const licensed = { has: () => true }
const organization = Uuid.Uuid.make("11111111-1111-4111-8111-111111111111")

const aTemplate = (settings: NewTemplateSettings = {}, features = community): Template => ({
  ...newTemplateSettings({ name: "name", ...settings }, features),
  id: organization,
  created_at: Timestamp.fromMillis(0),
  updated_at: Timestamp.fromMillis(0),
  organization_id: organization,
  deleted: false,
  provisioner: "terraform",
  active_version_id: organization,
  created_by: organization,
  user_acl: {},
  group_acl: everyoneMayUse(organization),
  active_user_count: 0,
  build_time_stats: noBuildTimeStats
})

const createFields = (settings: NewTemplateSettings, features = community) =>
  newTemplateViolations({ name: "name", ...settings }, features).map(({ field }) => field)

const changeFields = (settings: ChangedTemplateSettings, features = community, template = aTemplate()) =>
  changedTemplateViolations(template, settings, features).map(({ field }) => field)

describe("a new template", () => {
  it("has the defaults of the interface", () => {
    expect(newTemplateSettings({ name: "name" }, community)).toMatchObject({
      activity_bump_ms: 3_600_000,
      default_ttl_ms: 0,
      allow_user_cancel_workspace_jobs: false,
      allow_user_autostart: true,
      autostart_block_days_of_week: 0,
      use_classic_parameter_flow: false,
      cors_behavior: "simple",
      max_port_share_level: "owner",
      agents_allowed: true
    })
  })

  it.each<[NewTemplateSettings, string]>([
    [{ name: "new" }, "name"],
    [{ name: "a--b" }, "name"],
    [{ name: "" }, "name"],
    [{ display_name: " x" }, "display_name"],
    [{ display_name: "x".repeat(65) }, "display_name"],
    [{ description: "x".repeat(128) }, "description"],
    [{ icon: "x".repeat(257) }, "icon"],
    [{ default_ttl_ms: -1 }, "default_ttl_ms"],
    [{ activity_bump_ms: -1 }, "activity_bump_ms"],
    [{ failure_ttl_ms: -1 }, "failure_ttl_ms"],
    [{ dormant_ttl_ms: -1 }, "time_til_dormant_autodeletion_ms"],
    [{ delete_ttl_ms: -1 }, "time_til_dormant_autodeletion_ms"],
    [{ time_til_autostop_notify_ms: 59_999 }, "time_til_autostop_notify_ms"],
    [{ autostop_requirement: { days_of_week: ["funday"], weeks: 1 } }, "autostop_requirement.days_of_week"],
    [{ autostop_requirement: { days_of_week: [], weeks: 17 } }, "autostop_requirement.weeks"],
    [{ autostop_requirement: { days_of_week: [], weeks: -1 } }, "autostop_requirement.weeks"],
    [{ autostart_requirement: { days_of_week: ["mon"] } }, "autostart_requirement.days_of_week"],
    [{ max_port_share_level: "public" }, "max_port_share_level"]
  ])("%o breaks the rule of %s", (settings, field) => {
    expect(createFields(settings)).toStrictEqual([field])
  })

  it("may restrict the sharing of ports and schedules with a license only", () => {
    expect(createFields({ max_port_share_level: "owner" }, licensed)).toStrictEqual([])
    const settings: NewTemplateSettings = {
      autostart_requirement: { days_of_week: [] },
      failure_ttl_ms: 60_000,
      allow_user_autostop: false
    }
    expect(weekdaysOf(otherDays(aTemplate(settings, licensed).autostart_block_days_of_week))).toStrictEqual([])
    expect(aTemplate(settings, licensed)).toMatchObject({ failure_ttl_ms: 60_000, allow_user_autostop: false })
    expect(aTemplate(settings, community)).toMatchObject({ failure_ttl_ms: 0, allow_user_autostop: true, autostart_block_days_of_week: 0 })
  })
})

describe("a change", () => {
  it("of nothing changes nothing", () => {
    fc.assert(
      fc.property(fc.boolean(), (withLicense) => {
        const features = withLicense ? licensed : community
        const template = aTemplate({ failure_ttl_ms: 60_000 }, licensed)
        expect(changedTemplate(template, {}, features)).toStrictEqual(template)
        expect(changesSchedule(template, changedTemplate(template, {}, features))).toBe(false)
      })
    )
  })

  it("sets the named fields, also to empty values", () => {
    const template = { ...aTemplate(), icon: "/icon.png", description: "about" }
    expect(changedTemplate(template, { icon: "", description: "" }, community)).toMatchObject({
      icon: "",
      name: "name",
      description: ""
    })
  })

  it.each<[ChangedTemplateSettings, ReadonlyArray<string>]>([
    [{ name: "" }, ["name"]],
    [{ failure_ttl_ms: 59_999 }, ["failure_ttl_ms"]],
    [{ failure_ttl_ms: 60_000 }, []],
    [{ failure_ttl_ms: 0 }, []],
    [{ time_til_dormant_ms: 1 }, ["time_til_dormant_ms"]],
    [{ time_til_dormant_autodelete_ms: -60_000 }, ["time_til_dormant_autodelete_ms"]],
    [{ default_ttl_ms: Number.MAX_SAFE_INTEGER }, ["default_ttl_ms"]],
    [{ description: "x".repeat(128) }, []],
    [{ description: "x".repeat(129) }, ["description"]],
    [{ name: "create" }, ["name"]],
    [{ max_port_share_level: "owner" }, ["max_port_sharing_level"]],
    [{ max_port_share_level: "public" }, []],
    [{ deprecation_message: "old" }, ["deprecation_message"]]
  ])("%o breaks the rules of %o", (settings, fields) => {
    expect(changeFields(settings)).toStrictEqual(fields)
  })

  it("may clear a deprecation without a license, and keep it", () => {
    const deprecated = { ...aTemplate(), deprecated: "old" }
    expect(changeFields({ deprecation_message: "" }, community, deprecated)).toStrictEqual([])
    expect(changeFields({ deprecation_message: "old" }, community, deprecated)).toStrictEqual([])
  })

  it("removes the access of everyone, and never gives it back", () => {
    const without = changedTemplate(aTemplate(), { disable_everyone_group_access: true }, community)
    expect(without.group_acl).toStrictEqual({})
    expect(changedTemplate(without, { disable_everyone_group_access: false }, community).group_acl).toStrictEqual({})
  })

  it("stores one week at least, and days as they are not blocked", () => {
    const changed = changedTemplate(
      aTemplate(),
      {
        autostop_requirement: { days_of_week: ["Sunday", "monday", "sunday"], weeks: 0 },
        autostart_requirement: { days_of_week: ["monday"] }
      },
      licensed
    )
    expect(weekdaysOf(changed.autostop_requirement_days_of_week)).toStrictEqual(["monday", "sunday"])
    expect(changed.autostop_requirement_weeks).toBe(1)
    expect(weekdaysOf(otherDays(changed.autostart_block_days_of_week))).toStrictEqual(["monday"])
    expect(changesSchedule(aTemplate(), changed)).toBe(true)
  })
})

describe("settings in force", () => {
  it("fall back to the community's without a license, and keep the stored ones", () => {
    const template = aTemplate(
      { failure_ttl_ms: 60_000, autostart_requirement: { days_of_week: [] }, require_active_version: true },
      licensed
    )
    expect(effectiveTemplate(template, licensed)).toMatchObject({ failure_ttl_ms: 60_000, require_active_version: true })
    expect(effectiveTemplate(template, community)).toMatchObject({
      failure_ttl_ms: 0,
      require_active_version: false,
      autostart_block_days_of_week: 0,
      max_port_share_level: "public"
    })
  })
})

describe("days of the week", () => {
  it("are the same after they were named", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 127 }), (days) => {
        expect(daysOf(weekdaysOf(days))).toStrictEqual({ days })
      })
    )
  })
})

describe("the name of a version", () => {
  it.each([
    ["v1.0.0-rc_1", true],
    ["a", true],
    ["a..b", false],
    ["-a", false],
    ["a b", false],
    ["x".repeat(65), false]
  ])("%s is one: %s", (name, isOne) => {
    expect(versionNameViolation(name) === undefined).toBe(isOne)
  })
})

describe("Markdown as plain text", () => {
  it.each([
    ["# Title\n\nSome **bold**, *thin*, `code` and ~~gone~~.", "Title\nSome bold, thin, code and gone."],
    ['- [docs](https://example.com/a_b "Docs")\n- ![logo](x.png)', "docs\nlogo"],
    ["snake_case stays, _emphasis_ goes", "snake_case stays, emphasis goes"],
    ["a < b and <b>c</b>", "a < b and c"],
    ["1 \\* 2", "1 * 2"]
  ])("%j reads %j", (markdown, text) => {
    expect(plainText(markdown)).toBe(text)
  })

  it("is found in hostile texts", () => {
    // Time that grows with the square of the length would exceed any limit of a test
    for (const hostile of ["[", "*", "_", "`", "<a", "![", "#", " \n"]) plainText(hostile.repeat(20_000))
  })
})
