/** `config-ssh`: lets OpenSSH, and every editor that uses it, reach workspaces by name. */
import { mkdir, readdir, readFile, realpath, rm, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { configDirectory } from "../contexts/Contexts.js"
import { alone } from "../contexts/fileLock.js"
import { writeWhole } from "../contexts/wholeFile.js"
import { exitCodes, Failure, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { hostKeyFolder } from "./sshStream.js"

interface ConfigInput {
  readonly suffix: string | undefined
  readonly sshConfig: string | undefined
  readonly dryRun: boolean
  readonly remove: boolean
}

/** A word of OpenSSH's configuration. A quote cannot be written in one. */
const quoted = (word: string): string => {
  if (/["\r\n]/.test(word)) throw usage(`${word}: OpenSSH cannot read a quote in this path.`)
  return `"${word.replaceAll("%", "%%")}"`
}

/** A word of a line of the shell. */
const shellQuoted = (word: string): string => `'${word.replaceAll("'", "'\\''").replaceAll("%", "%%")}'`

export interface HostFile {
  readonly suffix: string
  readonly command: ReadonlyArray<string>
  readonly directory: string
}

/** The file that OpenSSH includes. */
export const hostFile = ({ command, directory, suffix }: HostFile): string =>
  [
    `# Written by "atelier config-ssh": changes here are lost.`,
    `Host *.${suffix}`,
    `  ProxyCommand ${command.map(shellQuoted).join(" ")} ssh --stdio --suffix ${suffix} '%n'`,
    // The service has checked the login; the key is the workspace's own
    `  UserKnownHostsFile ${quoted(hostKeyFolder(directory)).replace(/"$/, '/%n"')}`,
    "  GlobalKnownHostsFile /dev/null",
    "  StrictHostKeyChecking yes",
    "  CheckHostIP no",
    // What the agent computes fastest
    "  Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes256-ctr",
    "  ServerAliveInterval 30",
    "  ServerAliveCountMax 4",
    ""
  ].join("\n")

const textOf = async (path: string): Promise<string> =>
  readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return ""
    throw error
  })

/** The user's configuration with the line, or without it. It stands first: behind a `Host`, it would be for that host alone. */
export const withInclude = (text: string, line: string, isWanted: boolean): string => {
  const lines = text.split("\n")
  const rest = lines.filter((each) => each.trim() !== line).join("\n")
  if (!isWanted) return rest
  return lines.includes(line) ? text : `${line}\n${text}`
}

/** Writes the user's configuration where it really is, with the mode that it has. */
const writeConfig = async (path: string, text: string): Promise<void> => {
  const place = await realpath(path).catch(() => path)
  const mode = await stat(place).then(
    (found) => found.mode & 0o777,
    () => 0o600
  )
  await writeWhole(place, text, mode)
}

/** A suffix for the names of hosts: the context's name without what a host's name cannot have. */
const checkedSuffix = (suffix: string): string => {
  if (!/^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(suffix)) throw usage(`--suffix: "${suffix}" must have letters, digits, dots and hyphens.`)
  return suffix
}

interface Places {
  readonly folder: string
  readonly file: string
  readonly config: string
  /** The line of the user's configuration. */
  readonly line: string
}

const removeHosts = async ({ config, file, folder, line }: Places, dryRun: boolean, suffix: string, { out }: Session): Promise<void> => {
  const before = await textOf(config)
  const others = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".conf") && name !== `${suffix}.conf`)
  const after = withInclude(before, line, others.length > 0)
  if (dryRun) return out.raw(`${file}: would be removed\n${config}: ${after === before ? "would stay as it is" : `would lose "${line}"`}\n`)
  if (after !== before) await writeConfig(config, after)
  await rm(file, { force: true })
  out.say(`Removed the hosts *.${suffix}.`)
}

const addHosts = async ({ config, file, line }: Places, dryRun: boolean, suffix: string, session: Session): Promise<void> => {
  const { contexts, out, program } = session
  const context = await session.contextName()
  const login = context === undefined ? undefined : await contexts.describe(context)
  if (context === undefined || login === undefined) {
    throw new Failure({ message: "You are not logged in.", hint: `"${program} login URL" logs in.`, code: exitCodes.notLoggedIn })
  }
  // OpenSSH may run where the variables of this program are not set
  const place = configDirectory({}) === contexts.directory ? [] : ["env", `ATELIER_CONFIG_DIRECTORY=${contexts.directory}`]
  const command = [...place, process.execPath, await realpath(process.argv[1] ?? ""), "--context", context]
  const text = hostFile({ suffix, command, directory: contexts.directory })
  const before = await textOf(config)
  const after = withInclude(before, line, true)
  if (dryRun) return out.raw(`${file}:\n${text}\n${config}: ${after === before ? "would stay as it is" : `would get the line ${line}`}\n`)
  await mkdir(hostKeyFolder(contexts.directory), { recursive: true, mode: 0o700 })
  await writeWhole(file, text)
  if (after !== before) await writeConfig(config, after)
  out.say(`OpenSSH reaches workspaces as WORKSPACE.${suffix} now, for example "ssh first.${suffix}".`)
}

export const configSsh = async ({ dryRun, remove, sshConfig, suffix: given }: ConfigInput, session: Session): Promise<void> => {
  const suffix = checkedSuffix(given ?? "atelier")
  const folder = join(session.contexts.directory, "ssh")
  const places = {
    folder,
    file: join(folder, `${suffix}.conf`),
    config: sshConfig ?? join(session.env["HOME"] ?? homedir(), ".ssh", "config"),
    line: `Include ${quoted(join(folder, "*.conf"))}`
  }
  const work = () => (remove ? removeHosts : addHosts)(places, dryRun, suffix, session)
  // A process that removes the last hosts would take the line from under those that another process adds
  return dryRun ? work() : alone(join(folder, ".lock"), session.signal, work)
}
