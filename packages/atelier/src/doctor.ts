/** Looks at what the server needs, and names what to do for each fault: `atelier doctor`. */
import { reasonOf } from "@atelier/core/platform"
import { addressFindings, wildcardFindings } from "./doctor/addresses.js"
import { databaseFindings } from "./doctor/database.js"
import { engineFindings } from "./doctor/engines.js"
import type { Check, Finding } from "./doctor/Finding.js"
import { diskFindings, runtimeFindings } from "./doctor/machine.js"
import { invariantFindings } from "./doctor/invariants.js"
import { keyFindings } from "./doctor/keys.js"
import { mailFindings } from "./doctor/mail.js"
import { onDatabase } from "./onDatabase.js"
import { printed } from "./printed.js"

/** A check that takes longer is given up. */
const longestCheck = 20_000

/** Milliseconds that reading all rows may take. */
const longestDeepCheck = 600_000

const deep = "--deep"

const checks: Readonly<Record<string, Check>> = {
  runtime: runtimeFindings,
  disk: diskFindings,
  database: databaseFindings,
  keys: keyFindings,
  "access URL": addressFindings,
  wildcard: wildcardFindings,
  engines: engineFindings,
  mail: mailFindings
}

const overdue = (limit: number): Finding => ({
  severity: "error",
  text: `no answer within ${limit / 1000} seconds`,
  advice: "check the network between this machine and that one"
})

/** What a check finds; a check that fails is a finding too. */
const found = (check: Promise<ReadonlyArray<Finding>>, limit = longestCheck): Promise<ReadonlyArray<Finding>> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<ReadonlyArray<Finding>>((resolve) => {
    timer = setTimeout(() => resolve([overdue(limit)]), limit)
  })
  const failed = (error: unknown): ReadonlyArray<Finding> => [
    { severity: "error", text: `the check failed: ${reasonOf(error)}`, advice: "repair what the message names" }
  ]
  return Promise.race([check.catch(failed), late]).finally(() => clearTimeout(timer))
}

const linesOf = (name: string, { advice, severity, text }: Finding): string =>
  `${severity.padEnd(8)} ${name.padEnd(11)} ${text}\n${advice === undefined ? "" : `${" ".repeat(21)}→ ${advice}\n`}`

/** Prints the findings of all checks, and returns 1 if one of them keeps the server from working. */
export const run = (words: ReadonlyArray<string>): Promise<number> =>
  onDatabase(
    words.filter((word) => word !== deep),
    {
      usage: "doctor [--deep]",
      help: "Checks runtime, disk, database, encryption keys, clock, addresses, engines and mail, and names what to do for each fault. With --deep, it also reads the rows of the database, and checks that they agree with each other. It changes nothing. Exit code 1 if there is an error.",
      run: async (options) => {
        const findings = await Promise.all([
          ...Object.entries(checks).map(async ([name, check]) => [name, await found(check(options))] as const),
          ...(words.includes(deep) ? [found(invariantFindings(options), longestDeepCheck).then((all) => ["rows", all] as const)] : [])
        ])
        const code = await printed(findings.flatMap(([name, all]) => all.map((finding) => linesOf(name, finding))).join(""))
        return findings.some(([, all]) => all.some(({ severity }) => severity === "error")) ? 1 : code
      }
    }
  )
