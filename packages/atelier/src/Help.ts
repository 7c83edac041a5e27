/** What the program prints about its options. */
import { type Definition, variableOf } from "@atelier/core/deployment"
import { definitions } from "./Sources.js"

const placeholder: Readonly<Record<Definition["type"], string>> = {
  bool: "",
  int: "NUMBER",
  string: "TEXT",
  "yaml-config-path": "FILE",
  enum: "WORD",
  "string-array": "TEXT,…",
  duration: "DURATION",
  url: "URL",
  "host:port": "HOST:PORT",
  regexp: "PATTERN",
  struct: "YAML"
}

const line = ([flag, definition]: readonly [string, Definition]): string => {
  const { choices, description, shorthand, type } = definition
  const value = choices?.join("|") ?? placeholder[type]
  const usage = `  ${shorthand === undefined ? "" : `-${shorthand}, `}--${flag}${value === "" ? "" : ` ${value}`}`
  const fallback = definition.default === undefined || definition.default === "false" ? "" : ` (${definition.default})`
  const variable = variableOf(flag, definition, "ATELIER")
  return `${usage}\n      ${description}${fallback}${variable === undefined ? "" : `\n      ${variable}`}`
}

/** The output of `serve --help` for a program that is called so: every option that does something, and the names of those that are accepted only. Deprecated ones are left out. */
export const help = (called: string): string => {
  const current = Object.entries(definitions).filter(([, { useInstead }]) => useInstead === undefined)
  const used = current.filter(([, { unused }]) => unused !== true)
  const named = (entries: typeof current): string => entries.map(([flag]) => `  --${flag}`).join("\n")
  const ignored = current.filter(([, { refusal, unused }]) => unused === true && refusal === undefined)
  const refused = current.filter(([, { refusal }]) => refusal !== undefined)
  return `Usage: ${called} [serve] [options]

Serves the service, until a signal ends it. "${called} --help" lists other commands.

Options. In a default, {brand} is the brand in lower case:

${used.map(line).join("\n")}

Accepted with a warning, without effect:
${named(ignored)}

Refused, since an operator would rely on them:
${named(refused)}

docs/options.md lists all options, with their keys in a YAML file.
`
}
