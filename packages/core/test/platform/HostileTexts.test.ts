import { describe, expect, it } from "vitest"
import { addressOf } from "../../src/agents/reports/UsageReports.js"
import { parseQuietHours } from "../../src/identity/settings/QuietHoursSchedule.js"
import { parseRange } from "../../src/insights/InsightsRange.js"
import { keyBytes } from "../../src/notifications/PushSubscription.js"
import { withoutTrailingSlashes } from "../../src/platform/texts/Address.js"
import { parseSchedule } from "../../src/platform/time/Schedule.js"
import { longestTurn, maximumTurn } from "./longestTurn.js"

const many = (text: string): string => text.repeat(100_000)

/** Patterns of repetitions take quadratic time for texts that nearly match: seconds for a body of the largest size. */
describe("a text of 100,000 characters is read without a stop of the process", () => {
  it.each<readonly [name: string, read: () => unknown]>([
    ["an address that nearly ends with slashes", () => withoutTrailingSlashes(`${many("/")}x`)],
    ["the key of a push subscription that nearly ends with padding", () => keyBytes(`${many("=")}x`)],
    ["a schedule of blanks", () => parseSchedule(`CRON_TZ=UTC${many(" ")}x\ny`)],
    ["quiet hours of blanks", () => parseQuietHours(`CRON_TZ=UTC${many(" ")}x\ny`)],
    ["an IP address of colons", () => addressOf(`${many(":")}x`)],
    [
      "the instant of a report with zeros as its fraction",
      () => parseRange(`2026-01-01T00:00:00.${many("0")}1Z`, "2026-01-02T00:00:00Z", 0)
    ]
  ])("%s", async (_, read) => {
    expect(await longestTurn(async () => read())).toBeLessThan(maximumTurn)
  })
})
