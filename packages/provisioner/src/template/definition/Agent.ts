/** An agent of a template, with its scripts, apps and metadata, and the container it runs in. agents-and-apps.md §3, §6–8. */
import { Cron, Either, Schema } from "effect"
import { Container } from "./Container.js"
import { Environment, flag, integer, list, must, named, oneOf, optional, order, orElse, plain, show, Text, text, when } from "./Field.js"

/** Six fields, seconds first. agents-and-apps.md §7. */
const SixFieldCron = Schema.String.annotations(must("text")).pipe(
  Schema.filter((cron) =>
    cron.trim().split(/\s+/).length === 6 && Either.isRight(Cron.parse(cron))
      ? undefined
      : `must be a schedule of six fields (second, minute, hour, day, month, weekday), not ${show(cron)}`
  )
)

const Script = Schema.Struct({
  display_name: plain(127),
  icon: text,
  script: Text,
  cron: optional(SixFieldCron),
  log_path: text,
  run_on_start: flag(false),
  run_on_stop: flag(false),
  /** Once the workspace has its owner: at a start, and when a prebuilt workspace is claimed. */
  run_for_owner: flag(false),
  start_blocks_login: flag(false),
  /** Seconds; 0 has no limit. */
  timeout: orElse(integer(0), 0),
  when
}).pipe(
  Schema.filter(({ cron, run_for_owner, run_on_start, run_on_stop, start_blocks_login }) => {
    if (cron === undefined && !run_on_start && !run_on_stop && !run_for_owner) {
      return { path: ["script"], message: "never runs: give run_on_start, run_for_owner, run_on_stop or cron" }
    }
    if (run_on_start && run_for_owner) return { path: ["run_for_owner"], message: "excludes run_on_start" }
    if (start_blocks_login && !run_on_start) return { path: ["start_blocks_login"], message: "needs run_on_start: true" }
    return undefined
  })
)
export type Script = typeof Script.Type

const App = Schema.Struct({
  slug: named(/^[a-z0-9](-?[a-z0-9])*$/, 64, "lower-case letters and digits with single dashes between,"),
  display_name: text,
  command: text,
  url: text,
  icon: text,
  subdomain: flag(false),
  external: flag(false),
  share: optional(oneOf("owner", "authenticated", "organization", "public")),
  healthcheck: optional(Schema.Struct({ url: Text, interval: integer(1, 86_400), threshold: integer(1, 100_000) })),
  order,
  group: text,
  hidden: flag(false),
  open_in: orElse(oneOf("slim-window", "tab"), "slim-window"),
  tooltip: text,
  when
}).pipe(
  Schema.filter(({ command, external, healthcheck, share, slug, subdomain, url }) => {
    if (url === undefined && command === undefined) return { path: ["slug"], message: `"${slug}" needs a url or a command` }
    if (url !== undefined && command !== undefined) return { path: ["command"], message: "excludes url" }
    if (!external) return undefined
    if (command !== undefined) return { path: ["command"], message: "excludes external" }
    if (healthcheck !== undefined) return { path: ["healthcheck"], message: "excludes external" }
    if (subdomain) return { path: ["subdomain"], message: "excludes external" }
    if (share !== undefined) return { path: ["share"], message: "excludes external" }
    return undefined
  })
)
export type App = typeof App.Type

const AgentMetadata = Schema.Struct({
  key: plain(127),
  display_name: text,
  script: Text,
  /** Seconds. */
  interval: integer(1, 86_400),
  /** Seconds; as long as the interval when absent. */
  timeout: optional(integer(1, 86_400)),
  order,
  when
})

export const Agent = Schema.Struct({
  name: named(/^[a-z0-9](-?[a-z0-9])*$/i, 64, "letters and digits with single dashes between,"),
  /** The system the agent is for; any when absent. */
  os: optional(oneOf("linux", "darwin", "windows")),
  arch: optional(oneOf("amd64", "arm64", "armv7")),
  /** Beneath the workspace's directory. */
  dir: text,
  /** Overrides the template's `env`. */
  env: orElse(Environment, {}),
  /** Seconds; 0 waits for ever. */
  connection_timeout: orElse(integer(0), 120),
  troubleshooting_url: text,
  motd_file: text,
  /** Absent where the engine runs no containers. */
  container: optional(Container),
  api_key_scope: orElse(oneOf("all", "no_user_data"), "all"),
  display_apps: orElse(
    Schema.Struct({
      vscode: flag(true),
      vscode_insiders: flag(false),
      web_terminal: flag(true),
      ssh_helper: flag(true),
      port_forwarding_helper: flag(true)
    }),
    { vscode: true, vscode_insiders: false, web_terminal: true, ssh_helper: true, port_forwarding_helper: true }
  ),
  order,
  startup_script: text,
  startup_script_behavior: orElse(oneOf("non-blocking", "blocking"), "non-blocking"),
  shutdown_script: text,
  scripts: list(Script, 100),
  metadata: list(AgentMetadata, 100),
  apps: list(App, 100),
  when
})
export type Agent = typeof Agent.Type
