/** `exec`, `ssh` and `sandbox run`. */
import type { Client } from "@atelier/client"
import { usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { type ParameterInput, parametersOf, type ParameterValue } from "../workspaces/parameters.js"
import { attached } from "./attached.js"
import { reachSandbox } from "./reachSandbox.js"
import { imageParameter, originOf } from "./sandboxOrigin.js"

interface Runs {
  readonly words: ReadonlyArray<string>
  readonly tty: boolean
  readonly noTty: boolean
  readonly noInput: boolean
  readonly cwd: string | undefined
  readonly env: ReadonlyArray<string>
}

const variablesOf = (given: ReadonlyArray<string>, { env }: Session, isTerminal: boolean): Readonly<Record<string, string>> => {
  const terminal = isTerminal && env["TERM"] !== undefined ? { TERM: env["TERM"] } : {}
  const own = given.map((each) => {
    const at = each.indexOf("=")
    if (at < 1) throw usage(`--env: "${each}" must be NAME=VALUE.`)
    return [each.slice(0, at), each.slice(at + 1)] as const
  })
  return { ...terminal, ...Object.fromEntries(own) }
}

const isOnTerminal = ({ noTty, tty }: Runs, { stdin, stdout }: Session): boolean =>
  tty || (!noTty && stdin.isTTY === true && stdout.isTTY === true)

const commandOf = (words: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => {
  const [program, ...args] = words
  if (program === undefined) throw usage("COMMAND: is missing.", 'put it behind "--".')
  return [program, ...args]
}

/** Milliseconds after which a lost connection is told: that of a process which has ended is not worth a word. */
const patience = 1_500

const onLost = ({ out }: Session, isTerminal: boolean): (() => void) => {
  const leave = isTerminal ? " Press Enter, ~ and . to leave." : ""
  return () => {
    setTimeout(() => out.warn(`the connection is lost, and is made again.${leave}`), patience).unref()
  }
}

export const exec = async (
  input: Runs & { readonly workspace: string; readonly timeout: number | undefined },
  session: Session
): Promise<number> => {
  const command = commandOf(input.words)
  const isTerminal = isOnTerminal(input, session)
  const env = variablesOf(input.env, session, isTerminal)
  const client = await session.liveClient(onLost(session, isTerminal))
  const sandbox = await reachSandbox(client, input.workspace, session)
  const { cwd, noInput, timeout } = input
  return attached(sandbox, command, { cwd, timeout, isTerminal, hasInput: !noInput, env }, session)
}

/** The user's login shell, as SSH starts it. */
const loginShell = 'exec "${SHELL:-/bin/sh}" -l'

export const shell = async (input: Runs & { readonly workspace: string }, session: Session): Promise<number> => {
  const { cwd, noInput, words } = input
  const isTerminal = words.length === 0 ? isOnTerminal(input, session) : input.tty
  const env = variablesOf(input.env, session, isTerminal)
  const client = await session.liveClient(onLost(session, isTerminal))
  const sandbox = await reachSandbox(client, input.workspace, session)
  // As SSH does it, the words are a line of the shell
  const command = words.length === 0 ? loginShell : words.join(" ")
  return attached(sandbox, command, { cwd, isTerminal, hasInput: !noInput, env }, session)
}

interface SandboxInput extends Runs, ParameterInput {
  readonly template: string
  readonly deleteAfter: number | undefined
  readonly keep: boolean
}

/** Refuses values of parameters that the template does not have. */
const requireOfTemplate = async (
  client: Client,
  template: string,
  given: ReadonlyArray<ParameterValue>,
  session: Session
): Promise<void> => {
  if (given.length === 0) return
  const { signal } = session
  const [{ findTemplate }, { requireParameters }, { getUser }] = await Promise.all([
    import("../workspaces/find.js"),
    import("../workspaces/parameterNames.js"),
    import("@atelier/client/users")
  ])
  const [{ active_version_id: version }, { id: owner }] = await Promise.all([
    findTemplate(client, template, session),
    getUser(client, { user: "me" }, { signal })
  ])
  await requireParameters(client, { version, owner, given }, session)
}

/** Milliseconds after which the service deletes a sandbox whose program is gone. */
const usualTimeout = 3_600_000
/** Milliseconds that the deletion may take to be queued. */
const deletionTime = 15_000

export const runSandbox = async (input: SandboxInput, session: Session): Promise<number> => {
  const { out, signal } = session
  const command = commandOf(input.words)
  const isTerminal = isOnTerminal(input, session)
  const env = variablesOf(input.env, session, isTerminal)
  const client = await session.liveClient(onLost(session, isTerminal))
  const given = await parametersOf(input)
  const { image, template } = await originOf(client, input.template, session)
  const values = image === undefined ? given : [{ name: imageParameter, value: image }, ...given]
  await requireOfTemplate(client, template, given, session)
  const parameters = Object.fromEntries(values.map(({ name, value }) => [name, value]))
  const sandbox = await out.waiting(
    `Creating a sandbox of ${input.template}`,
    client.sandboxes.create(
      {
        template,
        timeout: input.deleteAfter ?? (input.keep ? undefined : usualTimeout),
        parameters,
        onProgress: ({ output }) => out.debug(output)
      },
      { signal }
    )
  )
  try {
    return await attached(sandbox, command, { cwd: input.cwd, isTerminal, hasInput: !input.noInput, env }, session)
  } finally {
    if (input.keep) out.say(`The sandbox is ${sandbox.name}.`)
    else {
      await sandbox.delete({ signal: AbortSignal.timeout(deletionTime) }).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        out.warn(`the sandbox ${sandbox.name} is not deleted yet (${reason}). The service deletes it when its time is over.`)
      })
    }
  }
}
