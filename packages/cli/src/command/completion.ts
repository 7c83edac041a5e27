/** Completion of commands and options in shells, made of the table of commands. */
import { listTemplates } from "@atelier/client/templates"
import { listWorkspaces } from "@atelier/client/workspaces"
import { usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { commands, globals } from "../commands.js"
import { type Argument, type Command, type Flag, flagName, type Flags, type Group, isGroup, type Kind } from "./Command.js"

/** Milliseconds that a user waits for names. */
const patience = 2_000

type Shell = "bash" | "zsh" | "fish"

const flagsOf = ({ flags }: Command): ReadonlyArray<string> =>
  [...Object.keys(flags), ...Object.keys(globals)].map((key) => `--${flagName(key)}`)

const shown = (entries: ReadonlyArray<Command | Group>): ReadonlyArray<Command | Group> =>
  entries.filter((entry) => isGroup(entry) || !entry.isHidden)

/** The words that may follow a path, by the path. */
export const wordsByPath = (): ReadonlyArray<readonly [string, ReadonlyArray<string>]> => [
  ["", shown(commands).map(({ name }) => name)],
  ...shown(commands).flatMap((entry): ReadonlyArray<readonly [string, ReadonlyArray<string>]> =>
    isGroup(entry)
      ? [
          [entry.name, entry.commands.map(({ name }) => name)],
          ...entry.commands.map((each) => [`${entry.name} ${each.name}`, flagsOf(each)] as const)
        ]
      : [[entry.name, flagsOf(entry)]]
  )
]

/** The names that the shell asks the program for, by what they are of. */
const asked: Readonly<Partial<Record<Kind, string>>> = { workspace: "workspaces", template: "templates", context: "contexts" }

/** All commands with their paths. */
const commandsByPath = (): ReadonlyArray<readonly [path: string, Command]> =>
  shown(commands).flatMap((entry): ReadonlyArray<readonly [string, Command]> =>
    isGroup(entry) ? entry.commands.map((each) => [`${entry.name} ${each.name}`, each] as const) : [[entry.name, entry]]
  )

/** What stands at a place of the command line: words, names that the program is asked for, or files. */
interface Values {
  readonly words: ReadonlyArray<string>
  readonly names: string | undefined
  readonly areFiles: boolean
}

const valuesOf = (all: ReadonlyArray<Pick<Flag<unknown> | Argument<unknown>, "choices" | "kind">>): Values => ({
  words: all.flatMap(({ choices = [] }) => choices),
  names: all.flatMap(({ kind = "other" }) => asked[kind] ?? [])[0],
  areFiles: all.some(({ kind }) => kind === "file")
})

/** The values of arguments, by the paths of their commands. */
const argumentValues = (): ReadonlyArray<readonly [string, Values]> =>
  commandsByPath().flatMap(([path, { args }]) => {
    const values = valuesOf(Object.values(args))
    return values.words.length > 0 || values.names !== undefined || values.areFiles ? [[path, values] as const] : []
  })

/** Paths as patterns of the shell's `case`: the path of a command without a group may have its first argument behind it. */
const patterns = (paths: ReadonlyArray<string>): string =>
  paths.map((path) => (path.includes(" ") ? `"${path}"` : `"${path}"|"${path} "*`)).join("|")

/** Offers values instead of what was offered before. */
const offering = (program: string, { areFiles, names, words }: Values): string => {
  const asking = names === undefined ? words.join(" ") : `${words.join(" ")} $(${program} complete ${names} 2>/dev/null)`.trim()
  return `offered="${asking}"${areFiles ? " files=1" : ""} ;;`
}

/** Cases of a word that stands behind a flag with a value. */
const flagCases = (program: string, flags: Flags): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([key, flag]) => {
    if (flag.placeholder === undefined) return []
    return [`--${flagName(key)}${flag.short === undefined ? "" : `|-${flag.short}`}) ${offering(program, valuesOf([flag]))}`]
  })

/** Finds the place of the words before the cursor, and what is offered there. The words are the shell's own array. */
const finding = (program: string, before: string, previous: string, current: string): string => `  local place="" offered="" files="" each
  for each in ${before}; do
    case "$each" in -*) ;; *) if [ -z "$place" ]; then place="$each"; else case "$place" in *" "*) ;; *) place="$place $each" ;; esac; fi ;; esac
  done
  case "$place" in
${wordsByPath()
  .map(([path, words]) => `    ${path === "" ? '""' : patterns([path])}) offered="${words.join(" ")}" ;;`)
  .toReversed()
  .join("\n")}
  esac
  case "${current}" in
    -*) ;;
    *)
      case "$place" in
${argumentValues()
  .map(([path, values]) => `        ${patterns([path])}) ${offering(program, values)}`)
  .join("\n")}
      esac
      case "${previous}" in
${flagCases(program, globals)
  .map((line) => `        ${line}`)
  .join("\n")}
        -*)
          case "$place" in
${commandsByPath()
  .map(([path, { flags }]) => [path, flagCases(program, flags)] as const)
  .filter(([, cases]) => cases.length > 0)
  .map(([path, cases]) => `            ${patterns([path])}) case "${previous}" in ${cases.join(" ")} esac ;;`)
  .join("\n")}
          esac ;;
      esac ;;
  esac`

const bash = (program: string): string => `# bash completion of ${program}: source <(${program} completion bash)
_${program}() {
${finding(program, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', "${COMP_WORDS[COMP_CWORD-1]}", "${COMP_WORDS[COMP_CWORD]}")}
  [ -z "$files" ] || compopt -o default 2>/dev/null
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${program} ${program}
`

// A user without a configuration has not switched the completion of zsh on
const zsh = (program: string): string => `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
_${program}() {
${finding(program, '"${(@)words[2,CURRENT-1]}"', "$words[CURRENT-1]", "$words[CURRENT]")}
  [ -z "$files" ] || _files
  compadd -- \${=offered}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _${program} ${program}
`

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const fishSeen = (path: string): string =>
  path
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ")

const fishValues = (program: string, { names, words }: Values): string => {
  const all = [...words, ...(names === undefined ? [] : [`(${program} complete ${names} 2>/dev/null)`])]
  return all.length === 0 ? "" : ` -a ${fishQuoted(all.join(" "))}`
}

const fishFlags = (program: string, { flags }: Command, path: string): ReadonlyArray<string> =>
  Object.entries({ ...flags, ...globals }).map(([key, flag]) => {
    const { placeholder, short, summary } = flag
    const values = valuesOf([flag])
    const value = placeholder === undefined ? "" : ` ${values.areFiles ? "-rF" : "-x"}${fishValues(program, values)}`
    const letter = short === undefined ? "" : ` -s ${short}`
    return `complete -c ${program} -n ${fishQuoted(fishSeen(path))} -l ${flagName(key)}${letter}${value} -d ${fishQuoted(summary)}`
  })

const fishWords = (program: string, entry: Command | Group): ReadonlyArray<string> => {
  if (!isGroup(entry)) return fishFlags(program, entry, entry.name)
  const isFirst = `${fishSeen(entry.name)}; and not __fish_seen_subcommand_from ${entry.commands.map(({ name }) => name).join(" ")}`
  return entry.commands.flatMap((each) => [
    `complete -c ${program} -n ${fishQuoted(isFirst)} -a ${each.name} -d ${fishQuoted(each.summary)}`,
    ...fishFlags(program, each, `${entry.name} ${each.name}`)
  ])
}

const fish = (program: string): string =>
  [
    `# fish completion of ${program}: ${program} completion fish | source`,
    `complete -c ${program} -f`,
    ...shown(commands).map(({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`),
    ...shown(commands).flatMap((entry) => fishWords(program, entry)),
    ...argumentValues().map(
      ([path, values]) =>
        `complete -c ${program} -n ${fishQuoted(fishSeen(path))}${values.areFiles ? " -F" : ""}${fishValues(program, values)}`
    ),
    ""
  ].join("\n")

/** The script of a shell. */
export const completionOf = (shell: Shell, program: string): string => ({ bash, zsh, fish })[shell](program)

const namesOf = async (kind: string, session: Session): Promise<ReadonlyArray<string>> => {
  if (kind === asked.context) return session.contexts.names()
  const options = { signal: AbortSignal.timeout(patience) }
  const client = await session.client()
  if (kind === asked.template) return (await listTemplates(client, {}, options)).map(({ name }) => name)
  return (await listWorkspaces(client, { q: "owner:me", limit: 100 }, options)).workspaces.map(({ name }) => name)
}

/** Prints the names that may stand at a place; nothing without a login. */
export const completeNames = async ({ kind }: { readonly kind: string }, session: Session): Promise<void> => {
  const names = await namesOf(kind, session)
  session.out.raw(names.map((name) => `${name}\n`).join(""))
}

/** Prints the script of a shell. */
export const printCompletion = async ({ shell }: { readonly shell: string }, { out, program }: Session): Promise<void> => {
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") throw usage(`"${shell}": must be bash, zsh or fish.`)
  out.raw(completionOf(shell, program))
}
