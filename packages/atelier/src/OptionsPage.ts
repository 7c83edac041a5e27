/** The page docs/options.md, from the definitions of the options. */
import { type Definition, variableOf, yamlPathOf } from "@atelier/core/deployment"
import { definitions } from "./Sources.js"

const types: Readonly<Record<Definition["type"], string>> = {
  bool: "true or false",
  int: "whole number",
  string: "text",
  "yaml-config-path": "file",
  enum: "word",
  "string-array": "list",
  duration: "duration",
  url: "URL",
  "host:port": "HOST:PORT",
  regexp: "regular expression",
  struct: "structure"
}

const groupOf = ({ group }: Definition): string => {
  const names: Array<string> = []
  for (let at = group; at !== undefined; at = at.parent) names.unshift(at.name.replaceAll(/[^\w() ]/gu, "").trim())
  return names.length === 0 ? "General" : names.join(" / ")
}

const rowOf = ([flag, definition]: readonly [string, Definition]): string => {
  const { choices, default: fallback, description, secret, shorthand, type } = definition
  const variable = variableOf(flag, definition, "ATELIER")
  const path = yamlPathOf(definition)
  const notes = [description, ...(secret === true ? ["Secret."] : [])].join(" ")
  const cells = [
    `\`--${flag}\`${shorthand === undefined ? "" : `, \`-${shorthand}\``}`,
    choices?.map((choice) => `\`${choice}\``).join(", ") ?? types[type],
    fallback === undefined ? "" : `\`${fallback}\``,
    variable === undefined ? "" : `\`${variable}\``,
    path === undefined ? "" : `\`${path.join(".")}\``,
    notes
  ]
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
}

const introduction = `# Options

Every option of the standalone server. This page is generated from the definitions by \`npm run options\`.

- A flag wins over a variable, a variable over the YAML file, and the file over the default.
- \`--config FILE\` names the YAML file. \`--write-config\` prints the options in force as such a file, and ends.
- A variable may also be given behind the prefix \`HOMEBREW_\`. With \`--compatibility coder\` or \`--brand\`, the product's word in capitals works as the prefix too.
- \`GET /api/v2/deployment/config\` shows each option with its value and source. The values of secret options are never shown.
- A value that cannot be used ends the program with one sentence and exit code 2, before anything is started.
- [Options without effect](#options-without-effect) stand at the end: they are reported, and do nothing in this product.
- \`{brand}\` in a default is the product's word in lower case.

A duration is written with the units \`ns\`, \`us\`, \`ms\`, \`s\`, \`m\`, \`h\`, \`d\` and \`w\`, such as \`1h30m\` or \`7d\`. A list is one CSV record; a repeated flag adds
to it. A structure is YAML or JSON.

An embedding application gives the same options by these names without hyphens, each word but the first with a capital:
\`Atelier.make({ options: { sessionDuration: "48 hours" } })\`. Durations are what Effect takes as a duration, and a structure is an object. The sections Storage
and Program have the options of the standalone server alone.
`

const withoutEffect = (entries: ReadonlyArray<readonly [string, Definition]>): string => {
  const refused = entries.filter(([, { refusal }]) => refusal !== undefined)
  const ignored = entries.filter(([, { refusal }]) => refusal === undefined)
  const row = ([flag, definition]: readonly [string, Definition]): string => {
    const variable = variableOf(flag, definition, "ATELIER")
    const cells = [`\`--${flag}\``, variable === undefined ? "" : `\`${variable}\``, definition.refusal ?? definition.description]
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  }
  return `## Options without effect

These options of the ecosystem's server are accepted and reported, and nothing reads them. Setting one prints a warning.

| Option | Variable | Meaning there |
|---|---|---|
${ignored.map(row).join("\n")}

An operator would rely on these, so the server does not start if one is set to another value than its default.

| Option | Variable | Why |
|---|---|---|
${refused.map(row).join("\n")}
`
}

/** The page's text. */
export const optionsPage = (): string => {
  const groups = new Map<string, Array<string>>()
  const all = Object.entries(definitions)
  for (const entry of all.filter(([, { unused }]) => unused !== true)) {
    const group = groupOf(entry[1])
    groups.set(group, [...(groups.get(group) ?? []), rowOf(entry)])
  }
  const sections = [...groups].map(
    ([name, rows]) =>
      `## ${name}\n\n| Option | Value | Default | Variable | YAML | Meaning |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`
  )
  return [introduction, ...sections, withoutEffect(all.filter(([, { unused }]) => unused === true))].join("\n")
}
