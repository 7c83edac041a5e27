/** Completion of commands and options in shells, made of the table of commands. */
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

/** Commands whose arguments are workspaces, which the shell asks the program for. */
const ofWorkspaces = (): ReadonlyArray<string> =>
  commands.flatMap((entry) => (!isGroup(entry) && Object.values(entry.args).some(({ kind }) => kind === "workspace") ? [entry.name] : []))

const bash = (program: string): string => `# bash completion of ${program}: source <(${program} completion bash)
_${program}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" path="" words=""
  local each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$each" in -*) ;; *) [ -z "$path" ] && path="$each" || { case "$path" in *" "*) ;; *) path="$path $each" ;; esac } ;; esac
  done
  case "$path" in
${wordsByPath()
  .map(
    ([path, words]) => `    ${path === "" ? '""' : `"${path}"${path.includes(" ") ? "" : `|"${path} "*`}`}) words="${words.join(" ")}" ;;`
  )
  .toReversed()
  .join("\n")}
  esac
  case "\${path%% *}" in
    ${ofWorkspaces().join("|")}) case "$word" in -*) ;; *) words="$(${program} complete workspaces 2>/dev/null)" ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _${program} ${program}
`

const zsh = (program: string): string => `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bash(program)}`

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const fish = (program: string): string => {
  const first = shown(commands).map(
    ({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`
  )
  const rest = shown(commands).flatMap((entry) => {
    const seen = `__fish_seen_subcommand_from ${entry.name}`
    if (!isGroup(entry)) return flagLines(entry, seen)
    return entry.commands.map((each) => `complete -c ${program} -n ${fishQuoted(seen)} -a ${each.name} -d ${fishQuoted(each.summary)}`)
  })
  function flagLines({ flags }: Command, seen: string): ReadonlyArray<string> {
    return Object.entries({ ...flags, ...globals }).map(
      ([key, { placeholder, short, summary }]) =>
        `complete -c ${program} -n ${fishQuoted(seen)} -l ${flagName(key)}${short === undefined ? "" : ` -s ${short}`}${placeholder === undefined ? "" : " -r"} -d ${fishQuoted(summary)}`
    )
  }
  const named = `complete -c ${program} -n '__fish_seen_subcommand_from ${ofWorkspaces().join(" ")}' -a '(${program} complete workspaces 2>/dev/null)'`
  return [
    `# fish completion of ${program}: ${program} completion fish | source`,
    `complete -c ${program} -f`,
    ...first,
    ...rest,
    named,
    ""
  ].join("\n")
}

/** The script of a shell. */
export const completionOf = (shell: Shell, program: string): string => ({ bash, zsh, fish })[shell](program)

/** Prints the names that may stand at a place; nothing without a login. */
export const completeNames = async (_: { readonly kind: string }, session: Session): Promise<void> => {
  const { workspaces } = await listWorkspaces(
    await session.client(),
    { q: "owner:me", limit: 100 },
    { signal: AbortSignal.timeout(patience) }
  )
  session.out.raw(workspaces.map(({ name }) => `${name}\n`).join(""))
}

/** Prints the script of a shell. */
export const printCompletion = async ({ shell }: { readonly shell: string }, { out, program }: Session): Promise<void> => {
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") throw usage(`"${shell}": must be bash, zsh or fish.`)
  out.raw(completionOf(shell, program))
}
