/** Spend as a table for spreadsheets. authorization.md §9. */
import { Duration, Either } from "effect"
import type { Organization } from "../organizations/Organization.js"
import { Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { monthOf, type Period } from "./AiBudget.js"
import type { AiSpendSum } from "./AiSpendRepository.js"

/** The longest period. */
const maximumSpan = Duration.days(31)

/** The requested period; empty texts are absent. */
export interface PeriodAsked {
  readonly period_start: string
  readonly period_end: string
}

/**
 * The period that is asked for, or the present month as far back as spend is kept; a retention of zero keeps it for ever. Fails with
 * every fault.
 */
export const exportedPeriod = (
  asked: PeriodAsked,
  now: Timestamp.Timestamp,
  retention: Duration.Duration
): Either.Either<Period, Invalid> => {
  const earliest = Duration.toMillis(retention) === 0 ? Timestamp.never : Timestamp.minus(now, retention)
  if (asked.period_start === "" && asked.period_end === "") {
    const { period_end, period_start } = monthOf(now)
    return Either.right({ period_end, period_start: period_start < earliest ? earliest : period_start })
  }
  const refused = (field: keyof PeriodAsked, detail: string): Either.Either<never, Invalid> =>
    Either.left(Invalid.field(field, detail, "Query parameters have invalid values."))
  if (asked.period_end === "") return refused("period_end", "has to be given together with period_start")
  if (asked.period_start === "") return refused("period_start", "has to be given together with period_end")
  const [period_start, period_end] = [Timestamp.parse(asked.period_start), Timestamp.parse(asked.period_end)]
  if (period_start === undefined) return refused("period_start", "must be an RFC 3339 date-time")
  if (period_end === undefined) return refused("period_end", "must be an RFC 3339 date-time")
  if (period_start >= period_end) return refused("period_end", "must be after period_start")
  if (Duration.greaterThan(Timestamp.between(period_start, period_end), maximumSpan)) {
    return refused("period_end", "must be at most 31 days after period_start")
  }
  if (period_start < earliest) return refused("period_start", `must not be before ${earliest}, since when spend is kept`)
  return Either.right({ period_start, period_end })
}

/** A text that a spreadsheet does not take for a formula. */
const plain = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** A cell of a table with commas between cells. RFC 4180 §2. */
const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const columns: ReadonlyArray<
  readonly [name: string, value: (sum: AiSpendSum, organization: Pick<Organization, "name">, period: Period) => string]
> = [
  ["user_id", ({ user_id }) => user_id],
  ["username", ({ username }) => plain(username)],
  ["group_id", ({ group_id }) => group_id],
  ["group_name", ({ group_name }) => plain(group_name)],
  ["organization_id", ({ organization_id }) => organization_id],
  ["organization_name", (_, { name }) => plain(name)],
  ["model", ({ model }) => plain(model)],
  ["provider", ({ provider }) => plain(provider)],
  ["provider_name", ({ provider_name }) => plain(provider_name)],
  ["input_tokens", ({ input_tokens }) => String(input_tokens)],
  ["output_tokens", ({ output_tokens }) => String(output_tokens)],
  ["cache_read_tokens", ({ cache_read_tokens }) => String(cache_read_tokens)],
  ["cache_write_tokens", ({ cache_write_tokens }) => String(cache_write_tokens)],
  ["cost_micros", ({ cost_micros }) => String(cost_micros)],
  ["period_start", (_, __, { period_start }) => period_start],
  ["period_end", (_, __, { period_end }) => period_end]
]

const lineOf = (cells: ReadonlyArray<string>): string => `${cells.join(",")}\n`

/** A file with a line for each sum below one of the columns' names. */
export const spendTable = (
  organization: Pick<Organization, "name">,
  period: Period
): { readonly filename: string; readonly head: string; readonly line: (sum: AiSpendSum) => string } => {
  const [from, to] = [period.period_start.slice(0, 10), period.period_end.slice(0, 10)]
  return {
    filename: `ai-spend-export-${organization.name}-${from}-to-${to}.csv`,
    head: lineOf(columns.map(([name]) => name)),
    line: (sum) => lineOf(columns.map(([, value]) => cell(value(sum, organization, period))))
  }
}
