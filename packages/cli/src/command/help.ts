/** The help of commands, as the program prints it. */
import { type Argument, type Arguments, type Command, type Flag, flagName, type Flags, type Group, isGroup } from "./Command.js"

/** A heading of the overview with the names of its commands. */
export interface Section {
  readonly title: string
  readonly names: ReadonlyArray<string>
}

const width = 80

/** Breaks a text into lines. */
export const wrapped = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return line === "" ? lines : [...lines, line]
}

/** Two columns: names, and what they are. */
const columns = (rows: ReadonlyArray<readonly [string, string]>): string => {
  const left = Math.min(26, Math.max(0, ...rows.map(([name]) => name.length)))
  return rows
    .map(([name, text]) => {
      const [first = "", ...more] = wrapped(text, width - left - 4)
      const head = name.length > left ? `  ${name}\n  ${" ".repeat(left)}` : `  ${name.padEnd(left)}`
      return [`${head}  ${first}`.trimEnd(), ...more.map((line) => `${" ".repeat(left + 4)}${line}`)].join("\n")
    })
    .join("\n")
}

const argumentUsage = ([key, { need }]: readonly [string, Argument<unknown>]): string => {
  const name = flagName(key).toUpperCase()
  if (need === "optional") return `[${name}]`
  return need === "list" ? `${name}...` : name
}

export const usageOf = ({ args, flags, words }: Command, path: ReadonlyArray<string>): string =>
  [
    ...path,
    ...Object.entries(args).map(argumentUsage),
    ...(Object.keys(flags).length === 0 ? [] : ["[options]"]),
    ...(words === undefined ? [] : [`[-- ${words}]`])
  ].join(" ")

const flagUsage = (key: string, { placeholder, short }: Flag<unknown>): string =>
  `${short === undefined ? "    " : `-${short}, `}--${flagName(key)}${placeholder === undefined ? "" : ` ${placeholder}`}`

const summaryOf = ({ isList, summary, variable }: Flag<unknown>): string =>
  `${summary}${isList ? "; may be repeated" : ""}${variable === undefined ? "" : ` [${variable}]`}`

export const flagRows = (flags: Flags): ReadonlyArray<readonly [string, string]> =>
  Object.entries(flags).map(([key, flag]) => [flagUsage(key, flag), summaryOf(flag)])

export const argumentRows = (args: Arguments): ReadonlyArray<readonly [string, string]> =>
  Object.entries(args).map(([key, { summary }]) => [flagName(key).toUpperCase(), summary])

const block = (title: string, text: string): string => (text === "" ? "" : `\n${title}:\n${text}\n`)

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** The help of a command. */
export const commandHelp = (command: Command, path: ReadonlyArray<string>, globals: Flags): string =>
  [
    `Usage: ${usageOf(command, path)}\n`,
    `\n${wrapped(sentence(command.summary), width).join("\n")}\n`,
    ...command.description.map((paragraph) => `\n${wrapped(paragraph, width).join("\n")}\n`),
    command.aliases.length === 0 ? "" : `\nAlso: ${command.aliases.join(", ")}\n`,
    block("Arguments", columns(argumentRows(command.args))),
    block("Options", columns(flagRows(command.flags))),
    block("Options of every command", columns(flagRows(globals))),
    block("Examples", command.examples.map((example) => `  ${example}`).join("\n"))
  ].join("")

/** The help of a group of commands. */
export const groupHelp = (group: Group, path: ReadonlyArray<string>): string => {
  const rows = group.commands.filter(({ isHidden }) => !isHidden).map(({ name, summary }) => [name, summary] as const)
  return `Usage: ${path.join(" ")} COMMAND\n\n${sentence(group.summary)}\n${block("Commands", columns(rows))}`
}

/** The overview of the program. */
export const overview = (
  program: string,
  entries: ReadonlyArray<Command | Group>,
  sections: ReadonlyArray<Section>,
  globals: Flags
): string => {
  const rowsOf = (names: ReadonlyArray<string>) =>
    names.flatMap((name) => {
      const entry = entries.find((each) => each.name === name)
      return entry === undefined ? [] : [[isGroup(entry) ? `${name} …` : name, entry.summary] as const]
    })
  return [
    `Usage: ${program} COMMAND [options]\n`,
    ...sections.map(({ names, title }) => block(title, columns(rowsOf(names)))),
    block("Options of every command", columns(flagRows(globals))),
    `\n"${program} COMMAND --help" tells more about a command.\n`
  ].join("")
}
