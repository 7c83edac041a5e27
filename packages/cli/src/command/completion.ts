/** Completion of commands and options in shells, made of the table of commands. */
import { listTemplates } from "@atelier/client/templates"
import { listWorkspaces } from "@atelier/client/workspaces"
import { usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { commands, globals } from "../commands.js"
import { type Command, flagName, type Group, isGroup } from "./Command.js"

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

/** Kinds of arguments that the shell asks the program for, and the word that it asks with. */
const asked = { workspace: "workspaces", template: "templates", context: "contexts" } as const

/** The commands whose arguments have names, by what the shell asks for. */
export const pathsByNames = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const all = shown(commands).flatMap((entry) =>
    isGroup(entry) ? entry.commands.map((each) => ({ path: `${entry.name} ${each.name}`, each })) : [{ path: entry.name, each: entry }]
  )
  return new Map(
    Object.entries(asked).map(([kind, names]) => [
      names,
      all.filter(({ each }) => Object.values(each.args).some((argument) => argument.kind === kind)).map(({ path }) => path)
    ])
  )
}

/** Paths as patterns of the shell's `case`: the path of a command without a group may have its first argument behind it. */
const patterns = (paths: ReadonlyArray<string>): string =>
  paths.map((path) => (path.includes(" ") ? `"${path}"` : `"${path}"|"${path} "*`)).join("|")

/** Finds the place of the words before the cursor, and what is offered there. The words are the shell's own array. */
const finding = (program: string, before: string, current: string): string => `  local place="" offered="" each
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
${[...pathsByNames()].map(([names, paths]) => `        ${patterns(paths)}) offered="$(${program} complete ${names} 2>/dev/null)" ;;`).join("\n")}
      esac ;;
  esac`

const bash = (program: string): string => `# bash completion of ${program}: source <(${program} completion bash)
_${program}() {
${finding(program, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', "${COMP_WORDS[COMP_CWORD]}")}
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${program} ${program}
`

// A user without a configuration has not switched the completion of zsh on
const zsh = (program: string): string => `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
_${program}() {
${finding(program, '"${(@)words[2,CURRENT-1]}"', "$words[CURRENT]")}
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

const fishFlags = (program: string, { flags }: Command, path: string): ReadonlyArray<string> =>
  Object.entries({ ...flags, ...globals }).map(([key, { choices, placeholder, short, summary }]) => {
    const value = placeholder === undefined ? "" : choices === undefined ? " -r" : ` -x -a ${fishQuoted(choices.join(" "))}`
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
    ...[...pathsByNames()].flatMap(([names, paths]) =>
      paths.map((path) => `complete -c ${program} -n ${fishQuoted(fishSeen(path))} -a '(${program} complete ${names} 2>/dev/null)'`)
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
