import { type Feature, grantedBy, type LicenseClaims, type LicenseUsage } from "@atelier/core/deployment"
import { Schema } from "effect"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const Claims = Schema.Struct({
  ExpiresAt: Schema.String,
  GraceAt: Schema.String,
  NotBefore: Schema.optionalWith(Schema.String, { default: () => "-1m" }),
  IssuedAt: Schema.optionalWith(Schema.String, { default: () => "-1m" }),
  FeatureSet: Schema.optionalWith(Schema.String, { default: () => "" }),
  AllFeatures: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  Trial: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  AllowEmpty: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  Addons: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
  Features: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Number }), { default: () => ({}) })
})

const count = (value: number) => Schema.optionalWith(Schema.Number, { default: () => value })

const Cases = Schema.parseJson(
  Schema.Array(
    Schema.Struct({
      name: Schema.String,
      licenses: Schema.Array(Claims),
      active_users: count(1),
      ai_seats: count(0),
      managed_agents: count(0),
      replicas: count(1),
      warnings: Schema.Number,
      errors: Schema.Number,
      has_license: Schema.Boolean,
      trial: Schema.Boolean,
      features: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })
    })
  )
)

const cases = Schema.decodeSync(Cases)(readFileSync(new URL("licenses.json", import.meta.url), "utf8"))

const now = Date.UTC(2026, 10, 22)
const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** An instant such as `+10d`. */
const instant = (text: string): number => now + Number(text.slice(0, -1)) * (units[text.slice(-1)] ?? Number.NaN)

const licenseOf = (claims: typeof Claims.Type, index: number): LicenseClaims => ({
  id: `license-${index}`,
  issued_at: instant(claims.IssuedAt),
  not_before: instant(claims.NotBefore),
  license_expires: instant(claims.GraceAt),
  expires: instant(claims.ExpiresAt),
  account_type: claims.AllowEmpty ? "" : "customer",
  account_id: claims.AllowEmpty ? "" : "1",
  trial: claims.Trial,
  require_telemetry: false,
  all_features: claims.AllFeatures,
  feature_set: claims.FeatureSet,
  features: claims.Features,
  addons: claims.Addons
})

const off: ReadonlySet<Feature> = new Set(["browser_only", "scim", "external_token_encryption"])

const usage: LicenseUsage = {
  now,
  active_users: 1,
  ai_seats: 0,
  managed_agents: () => 0,
  replicas: 1,
  external_auth_providers: 0,
  external_agent_templates: 0,
  telemetry: false,
  isOn: (feature) => !off.has(feature)
}

const premium = licenseOf(
  Schema.decodeSync(Claims)({ ExpiresAt: "+1000d", GraceAt: "+1000d", FeatureSet: "premium", Features: { user_limit: 5 } }),
  0
)

describe("a recorded set of licenses", () => {
  it.each(cases.map((one) => [one.name, one] as const))("grants what it grants in the reference: %s", (_, one) => {
    const counts = { active_users: one.active_users, ai_seats: one.ai_seats, replicas: one.replicas }
    const granted = grantedBy(one.licenses.map(licenseOf), { ...usage, ...counts, managed_agents: () => one.managed_agents })
    const { agent_runtime_hours: _hours, ...features } = granted.features
    const expected = {
      ...Object.fromEntries(Object.keys(features).map((name) => [name, { entitlement: "not_entitled", enabled: false }])),
      user_limit: { entitlement: "not_entitled", enabled: false, actual: one.active_users },
      ...one.features
    }
    const shown = Object.fromEntries(Object.entries(features).map(([name, { usage_period: _period, ...rest }]) => [name, rest]))
    expect(shown).toEqual(expected)
    expect({ warnings: granted.warnings.length, errors: granted.errors.length }).toEqual({ warnings: one.warnings, errors: one.errors })
    expect([granted.has_license, granted.trial]).toEqual([one.has_license, one.trial])
  })
})

describe("what licenses grant", () => {
  it("names both numbers where a limit is exceeded", () => {
    const { warnings } = grantedBy([premium], { ...usage, active_users: 7 })
    expect(warnings).toContain("The deployment has 7 active users and is licensed for 5.")
  })

  it("stays as it was while telemetry is demanded and off", () => {
    const before = grantedBy([premium], usage)
    const demanding = { ...premium, require_telemetry: true, feature_set: "", features: {} }
    const { errors, features } = grantedBy([demanding], usage, before)
    expect(errors).toEqual(["A license requires telemetry, which is switched off."])
    expect(features).toEqual(before.features)
    expect(grantedBy([demanding], { ...usage, telemetry: true }).errors).toEqual([])
  })

  it("is the same in any order of the licenses", () => {
    const license = fc
      .record({
        offset: fc.integer({ min: -20, max: 40 }),
        feature_set: fc.constantFrom("", "enterprise", "premium"),
        users: fc.integer({ min: 0, max: 20 })
      })
      .map(({ feature_set, offset, users }): LicenseClaims => ({
        ...premium,
        license_expires: now + offset * 86_400_000,
        expires: now + 50 * 86_400_000,
        feature_set,
        features: { user_limit: users }
      }))
    fc.assert(
      fc.property(fc.array(license, { maxLength: 5 }), (licenses) => {
        expect(grantedBy(licenses.toReversed(), usage).features).toEqual(grantedBy(licenses, usage).features)
      })
    )
  })
})
