/** The page of the documentation, made of the commands' own help. */
import { commands, globals, sections } from "../commands.js"
import { exitCodeMeanings, exitCodes } from "../Failure.js"
import { type Command, isGroup } from "./Command.js"
import { argumentRows, flagRows, usageOf } from "./help.js"

const cell = (text: string): string => text.replaceAll("|", "\\|")

const tableOf = (titles: readonly [string, string], rows: ReadonlyArray<readonly [string, string]>): string => {
  if (rows.length === 0) return ""
  const written = rows.map(([name, text]) => [`\`${cell(name.trim())}\``, cell(text)] as const)
  const widths = [0, 1].map((at) => Math.max(titles[at]?.length ?? 0, ...written.map((row) => row[at]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>): string => `| ${row.map((each, at) => each.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(titles), line(widths.map((width) => "-".repeat(width))), ...written.map(line), ""].join("\n")
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const commandText = (command: Command, path: ReadonlyArray<string>): ReadonlyArray<string> => [
  `### ${path.slice(1).join(" ")}`,
  "",
  `${sentence(command.summary)}${command.aliases.length === 0 ? "" : ` Also: ${command.aliases.map((each) => `\`${each}\``).join(", ")}.`}`,
  "",
  "```sh",
  usageOf(command, path),
  ...command.examples.flatMap((example, index) => (index === 0 ? ["", example] : [example])),
  "```",
  "",
  ...command.description.flatMap((paragraph) => [paragraph, ""]),
  tableOf(["Argument or option", "Meaning"], [...argumentRows(command.args), ...flagRows(command.flags)])
]

const environment: ReadonlyArray<readonly [string, string]> = [
  ["ATELIER_URL", "the service's address; together with `ATELIER_TOKEN` no login is needed"],
  ["ATELIER_TOKEN", "a session token or an API token, in place of the login's"],
  ["ATELIER_BRAND", "the service's brand, if it has another one than `Service`"],
  ["ATELIER_CONTEXT", "the context in place of the current one"],
  ["ATELIER_OUTPUT", "`table`, `json` or `jsonl`"],
  ["ATELIER_CONFIG_DIRECTORY", "where the program keeps its files; default `$XDG_CONFIG_HOME/atelier`, which is `~/.config/atelier`"],
  ["BROWSER", "the program that opens the page of a login"],
  ["NO_COLOR", "turns colours and lines that move off, with any value that is not empty"]
]

/** The page `docs/command-line.md`. */
export const manual = (): string => {
  const codes = Object.entries(exitCodes).map(([name, code]) => [String(code), exitCodeMeanings[name as keyof typeof exitCodes]] as const)
  const parts = sections.flatMap(({ names, title }) => [
    `## ${title}`,
    "",
    ...names.flatMap((name) => {
      const entry = commands.find((each) => each.name === name)
      if (entry === undefined) return []
      const path = ["atelier", entry.name]
      if (!isGroup(entry)) return commandText(entry, path)
      return entry.commands.filter(({ isHidden }) => !isHidden).flatMap((each) => commandText(each, [...path, each.name]))
    })
  ])
  return [
    "# The command line",
    "",
    "The program `atelier` works with workspaces from a terminal. The package `atelier` contains it and the server. The package `@atelier/cli` contains the command line without a server, under the name `atelier-cli`. Both packages can be installed.",
    "",
    "```sh",
    "npm install --global atelier",
    "atelier login https://dev.example.com",
    "atelier create first --template shell",
    "atelier ssh first",
    "```",
    "",
    "`npm run manual` makes this page of the program's own help.",
    "",
    "## Output",
    "",
    "Results go to the standard output, and everything else to the standard error. `--output json` prints what the service answered, and `--output jsonl` one line for each",
    "item. A table has at most 80 columns, or as many as the terminal. It shortens cells, but never the name that other commands take. The program asks only on a terminal.",
    "Elsewhere, a missing value is an error.",
    "",
    tableOf(["Option of every command", "Meaning"], flagRows(globals)),
    "A failure says what failed, why, and what to do. `--debug` adds the requests and the stack.",
    "",
    tableOf(["Exit code", "Meaning"], codes),
    "`exec`, `ssh` and `sandbox run` end with the exit code of their command, or with 128 and the number of the signal that ended it.",
    "",
    "## Environment",
    "",
    tableOf(["Variable", "Meaning"], environment),
    "## Logins",
    "",
    "Each login is a context: a file in `contexts` of the program's directory, with the address and the user name. Only the user can read it. The token is in the",
    "system's key store, by `secret-tool` on Linux (the package libsecret-tools of Debian) and `security` on macOS; without one, or with `--no-key-store`, it is in the file.",
    "A login through the browser or by `--device` has its tokens renewed, until it is not used for the lifetime of a refresh token (30 days unless set). The program",
    "writes a file beside its place and renames it, so a program that is killed leaves the old one or the new one. A token goes to the address of its context alone.",
    "",
    ...parts
  ]
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd()
    .concat("\n")
}
