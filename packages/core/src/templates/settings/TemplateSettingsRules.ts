/** Rules for a template's settings. templates-and-provisioning.md §2.2, §2.3. */
import type { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { pictureViolation } from "../../platform/texts/Address.js"
import { daysOf } from "../../platform/time/DaysOfWeek.js"
import type { Validation } from "../../platform/Errors.js"
import * as Name from "../../platform/texts/Name.js"
import { effectiveTemplate } from "./EffectiveTemplate.js"
import { CorsBehavior, isCorsBehavior, isPortShareLevel, PortShareLevel, type Template } from "../Template.js"
import type { ChangedTemplateSettings, CommonTemplateSettings, NewTemplateSettings } from "./TemplateSettings.js"

const maximumDisplayName = 64
const maximumIcon = 256
const maximumDescription = 128
/** Milliseconds: what 64 bits hold as nanoseconds. */
const maximumDuration = 9_223_372_036_854
/** Milliseconds: the shortest of durations that have one. */
const minimumDuration = 60_000
const maximumWeeks = 16

type Rule = Validation | undefined

const rule = (field: string, isBroken: boolean, detail: string): Rule => (isBroken ? { field, detail } : undefined)

const broken = (rules: ReadonlyArray<Rule>): ReadonlyArray<Validation> => rules.filter((rule) => rule !== undefined)

const notNegative = (field: string, value = 0): Rule =>
  rule(field, !(value >= 0 && value <= maximumDuration), `must be between 0 and ${maximumDuration}, not ${value}`)

const zeroOrAMinute = (field: string, value = 0): Rule =>
  rule(
    field,
    value !== 0 && !(value >= minimumDuration && value <= maximumDuration),
    `must be 0, or between ${minimumDuration} and ${maximumDuration}, not ${value}`
  )

const unknownDay = (field: string, days: ReadonlyArray<string> = []): Rule => {
  const parsed = daysOf(days)
  return "unknown" in parsed ? { field, detail: `"${parsed.unknown.slice(0, 32)}" is not a weekday` } : undefined
}

const displayNameViolation = (name: string): boolean =>
  name !== "" && (Array.from(name).length > maximumDisplayName || !/^\S(.*\S)?$/su.test(name))

const iconRule = (icon: string): Rule => {
  const violation = pictureViolation(icon, maximumIcon)
  return violation === undefined ? undefined : { field: "icon", detail: violation }
}

const commonRules = (settings: CommonTemplateSettings): ReadonlyArray<Rule> => [
  rule(
    "display_name",
    displayNameViolation(settings.display_name ?? ""),
    `must be at most ${maximumDisplayName} characters, and not begin or end with white space`
  ),
  iconRule(settings.icon ?? ""),
  notNegative("default_ttl_ms", settings.default_ttl_ms),
  notNegative("activity_bump_ms", settings.activity_bump_ms),
  zeroOrAMinute("time_til_autostop_notify_ms", settings.time_til_autostop_notify_ms),
  unknownDay("autostop_requirement.days_of_week", settings.autostop_requirement?.days_of_week),
  unknownDay("autostart_requirement.days_of_week", settings.autostart_requirement?.days_of_week),
  rule(
    "autostop_requirement.weeks",
    !inRange(settings.autostop_requirement?.weeks ?? 0, 0, maximumWeeks),
    `must be between 0 and ${maximumWeeks}`
  ),
  // Empty keeps that of a template that exists
  rule("cors_behavior", (settings.cors_behavior ?? "") !== "" && !isCorsBehavior(settings.cors_behavior), unknownCors)
]

const unknownCors = `must be one of ${CorsBehavior.literals.join(", ")}`

const inRange = (value: number, minimum: number, maximum: number): boolean => value >= minimum && value <= maximum

const unknownLevel = `must be one of ${PortShareLevel.literals.join(", ")}`

const isUnknownLevel = ({ max_port_share_level: level }: CommonTemplateSettings): boolean => level !== undefined && !isPortShareLevel(level)

/** Every rule that a new template breaks. */
export const newTemplateViolations = (settings: NewTemplateSettings, features: Entitlements["Type"]): ReadonlyArray<Validation> => {
  const nameViolation = Name.violation(settings.name ?? "")
  return broken([
    nameViolation === undefined ? undefined : { field: "name", detail: nameViolation },
    rule(
      "description",
      Array.from(settings.description ?? "").length >= maximumDescription,
      `must be less than ${maximumDescription} characters`
    ),
    ...commonRules(settings),
    rule("cors_behavior", settings.cors_behavior === "", unknownCors),
    notNegative("failure_ttl_ms", settings.failure_ttl_ms),
    notNegative("time_til_dormant_autodeletion_ms", Math.min(settings.dormant_ttl_ms ?? 0, settings.delete_ttl_ms ?? 0)),
    notNegative("time_til_dormant_autodeletion_ms", Math.max(settings.dormant_ttl_ms ?? 0, settings.delete_ttl_ms ?? 0)),
    rule("max_port_share_level", isUnknownLevel(settings), unknownLevel),
    rule(
      "max_port_share_level",
      settings.max_port_share_level !== undefined && !isUnknownLevel(settings) && !features.has("control_shared_ports"),
      "cannot be set: sharing of ports is not restricted without a license"
    )
  ])
}

/** Every rule that a change of a template breaks. */
export const changedTemplateViolations = (
  template: Template,
  settings: ChangedTemplateSettings,
  features: Entitlements["Type"]
): ReadonlyArray<Validation> => {
  const nameViolation = settings.name === undefined ? undefined : Name.violation(settings.name)
  const reportedLevel = effectiveTemplate(template, features).max_port_share_level
  return broken([
    nameViolation === undefined ? undefined : { field: "name", detail: nameViolation },
    rule(
      "description",
      Array.from(settings.description ?? "").length > maximumDescription,
      `must be at most ${maximumDescription} characters`
    ),
    ...commonRules(settings),
    zeroOrAMinute("failure_ttl_ms", settings.failure_ttl_ms),
    zeroOrAMinute("time_til_dormant_ms", settings.time_til_dormant_ms),
    zeroOrAMinute("time_til_dormant_autodelete_ms", settings.time_til_dormant_autodelete_ms),
    // Refused under a name of its own
    rule("max_port_sharing_level", isUnknownLevel(settings), unknownLevel),
    rule(
      "max_port_sharing_level",
      settings.max_port_share_level !== undefined &&
        settings.max_port_share_level !== reportedLevel &&
        !features.has("control_shared_ports"),
      "cannot be set: sharing of ports is not restricted without a license"
    ),
    rule(
      "deprecation_message",
      isNewDeprecation(template, settings) && !features.has("access_control"),
      "cannot be set: templates are deprecated with a license only"
    )
  ])
}

const isNewDeprecation = ({ deprecated }: Template, { deprecation_message: message = "" }: ChangedTemplateSettings): boolean =>
  message !== "" && message !== deprecated
