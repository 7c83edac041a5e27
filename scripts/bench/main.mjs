// Measures the service and compares it with what its HTTP stack costs by itself. `npm run bench -- --help` says how.
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { against } from "./against.mjs"
import { builtCommit } from "./commits.mjs"
import { makeDatabases } from "./databases.mjs"
import { startDeployment } from "./deployment.mjs"
import { load, request } from "./load.mjs"
import { recordedRatios } from "./recorded.mjs"
import { makeReport } from "./report.mjs"
import { apps } from "./sections/apps.mjs"
import { commandLine } from "./sections/commandLine.mjs"
import { commandTimes } from "./sections/commands.mjs"
import { remoteDaemons } from "./sections/daemons.mjs"
import { largeFiles } from "./sections/files.mjs"
import { docker } from "./sections/docker.mjs"
import { forms } from "./sections/forms.mjs"
import { held } from "./sections/held.mjs"
import { history } from "./sections/history.mjs"
import { interactive } from "./sections/interactive.mjs"
import { streamKinds } from "./sections/kinds.mjs"
import { kubernetes } from "./sections/kubernetes.mjs"
import { lifeCycle } from "./sections/lifeCycle.mjs"
import { logins } from "./sections/logins.mjs"
import { logs } from "./sections/logs.mjs"
import { workers } from "./sections/workers.mjs"
import { relay } from "./sections/relay.mjs"
import { size } from "./sections/size.mjs"
import { ssh } from "./sections/ssh.mjs"
import { startUp } from "./sections/start.mjs"
import { streams } from "./sections/streams.mjs"
import { tracing } from "./sections/tracing.mjs"
import { userPages } from "./sections/userPages.mjs"
import { users } from "./sections/users.mjs"
import { workspaces } from "./sections/workspaces.mjs"
import { startServer } from "./servers.mjs"

/** In the order they run: a deployment only grows. */
const sections = {
  start: startUp,
  workers,
  users,
  tracing,
  logins,
  logs,
  userPages,
  workspaces,
  interactive,
  lifeCycle,
  held,
  relay,
  apps,
  streams,
  kinds: streamKinds,
  files: largeFiles,
  commands: commandTimes,
  "command-line": commandLine,
  ssh,
  docker,
  kubernetes,
  daemons: remoteDaemons,
  forms,
  history,
  size
}

const kinds = { sqlite: { kind: "sqlite", name: "SQLite" }, postgres: { kind: "postgres", name: "PostgreSQL" } }

const help = `Usage: npm run bench -- [options] [section…] [database…]

  sections   ${Object.keys(sections).join(", ")}; all unless named, but for size
  databases  ${Object.keys(kinds).join(", ")}; both unless named
  --quick          about a minute: shorter turns, and long lists on SQLite only
  --against DIR    compare with another built checkout, both loaded in turns, instead of the sections
  --workspaces N,… of the section size: multiples of 1,000, growing; 100,000 unless given
  --compare BASE   build the commit BASE, and compare this checkout with it in the same way. With --quick it ends within ten
                   minutes: the start and the most frequent requests, on SQLite unless a database is named
  --record         take the ratios of this run for those that later runs are compared with
  --profile DIR    write a CPU profile of each server process there
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    record: { type: "boolean" },
    profile: { type: "string" },
    against: { type: "string" },
    workspaces: { type: "string", default: "100000" },
    compare: { type: "string" },
    help: { type: "boolean", short: "h" }
  }
})
const unknown = positionals.filter((name) => !(name in sections) && !(name in kinds))
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `unknown: ${unknown.join(", ")}\n\n${help}` : help)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const chosen = (all) => {
  const named = Object.keys(all).filter((name) => positionals.includes(name))
  return Object.entries(all).filter(([name]) => named.length === 0 || named.includes(name))
}

// The servers that it has started end with it
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

const began = performance.now()

let report
let databases

/** Ends a comparison that takes longer than it is said to, with what it has measured so far. */
const endAfter = (minutes) => {
  const end = async () => {
    report?.fail({ figure: "all that is missing", reason: `not reached within ${minutes} minutes` })
    report?.print()
    await databases?.close()
    process.exit(1)
  }
  setTimeout(end, minutes * 60_000).unref()
}

if (values.compare !== undefined) endAfter(values.quick ? 10 : 90)
const { other, own } =
  values.compare !== undefined
    ? await builtCommit(values.compare)
    : { other: values.against === undefined ? undefined : pathToFileURL(`${resolve(values.against)}/`) }
const recorded = recordedRatios(other)
report = makeReport(recorded)
databases = await makeDatabases()
const nodeArguments = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`]
const seconds = (full) => (values.quick ? full / 4 : full)

const emptyServer = await startServer({ kind: "empty" })
const empty = { port: emptyServer.port, request: request("GET", "/api/v2/empty") }

/** The stack by itself. */
const measureStack = async () => {
  const bareServer = await startServer({ kind: "bare" })
  const { perSecond } = await load({ ...empty, port: bareServer.port, seconds: seconds(2) })
  report.add({ figure: "bare node:http", value: perSecond, unit: "/s" })
  await bareServer.stop()
}

const measure = async (database) => {
  let deployment
  const server = async (size) => {
    deployment ??= await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    await deployment.grow(size)
    return deployment
  }
  for (const [name, { isLong, isNamedOnly, run, title }] of chosen(sections)) {
    const isLeftOut = isNamedOnly || (values.quick && isLong && database.kind === "postgres")
    if (isLeftOut && !positionals.includes(name)) continue
    console.log(`${title}, ${database.name}`)
    try {
      const sizes = values.workspaces.split(",").map(Number)
      await run({ database, databases, empty, isQuick: values.quick ?? false, nodeArguments, report, seconds, server, sizes })
    } catch (error) {
      report.fail({ figure: title, database: database.name, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  await deployment?.stop()
}

try {
  if (other === undefined) {
    await measureStack()
    for (const [, database] of chosen(kinds)) await measure(database)
  } else {
    const isNamed = Object.keys(kinds).some((name) => positionals.includes(name))
    const compared = values.quick && !isNamed ? [["sqlite", kinds.sqlite]] : chosen(kinds)
    for (const [, database] of compared) {
      await against({
        database,
        databases,
        isKnown: recorded.isKnown,
        isQuick: values.quick ?? false,
        nodeArguments,
        other,
        own,
        report,
        seconds
      })
    }
  }
} finally {
  await emptyServer.stop()
  await databases.close()
}
report.print()
if (values.record) report.record()
console.log(`${Math.round((performance.now() - began) / 1000)} seconds`)
process.exit(report.failed() ? 1 : 0)
