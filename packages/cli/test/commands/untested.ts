/** The commands and options that no command line of a test has. */
import { type Command, flagName, type Group, isGroup } from "../../src/command/Command.js"
import { commands, globals } from "../../src/commands.js"

type Words = ReadonlyArray<string>

const isCalled = ({ aliases, name }: Command | Group, word: string | undefined): boolean =>
  word !== undefined && (name === word || aliases.includes(word))

const optionsOf = ({ flags }: Pick<Command, "flags">, lines: ReadonlyArray<Words>): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([key, { short }]) => {
    const name = `--${flagName(key)}`
    const isIt = (word: string): boolean =>
      word === name || word.startsWith(`${name}=`) || (short !== undefined && /^-[a-z]/i.test(word) && word.includes(short))
    return lines.some((words) => words.some(isIt)) ? [] : [name]
  })

const missingOf = (path: string, command: Command, lines: ReadonlyArray<Words>): ReadonlyArray<string> =>
  lines.length === 0 ? [path] : optionsOf(command, lines).map((option) => `${path} ${option}`)

/** Lists the commands and options of the program that none of the command lines has. */
export const untested = (lines: ReadonlyArray<Words>): ReadonlyArray<string> => [
  ...optionsOf({ flags: globals }, lines).map((option) => `every command: ${option}`),
  ...commands.flatMap((entry) => {
    const own = lines.filter(([first]) => isCalled(entry, first))
    if (!isGroup(entry)) return missingOf(entry.name, entry, own)
    return entry.commands.flatMap((each) =>
      missingOf(
        `${entry.name} ${each.name}`,
        each,
        own.filter(([, second]) => isCalled(each, second))
      )
    )
  })
]
