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

/** The output of `--help`: every option that does something and is not deprecated. */
export const help = (): string => {
  const shown = Object.entries(definitions).filter(([, { unused, useInstead }]) => unused !== true && useInstead === undefined)
  return `Usage: npm start -- [options]\n\n${shown.map(line).join("\n")}\n\ndocs/options.md lists all options, with their keys in a YAML file.\n`
}
