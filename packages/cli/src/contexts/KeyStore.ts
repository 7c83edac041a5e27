/** The system's store of secrets, by the program that the system has for it: `secret-tool` (Secret Service) on Linux, `security` (Keychain) on macOS. */
import { spawn } from "node:child_process"
import { once } from "node:events"

export interface KeyStore {
  /** Keeps a secret; false if the system has no store, or it takes nothing now. */
  readonly put: (id: string, label: string, secret: string) => Promise<boolean>
  /** Undefined if the store does not have the secret, or does not give it. */
  readonly get: (id: string) => Promise<string | undefined>
  readonly remove: (id: string) => Promise<void>
}

interface Step {
  readonly args: ReadonlyArray<string>
  readonly input?: string
}

interface Program {
  readonly name: string
  readonly put: (id: string, label: string, secret: string) => Step
  readonly get: (id: string) => Step
  readonly remove: (id: string) => Step
}

/** The service of all entries. */
const service = "atelier"

const secretTool: Program = {
  name: "secret-tool",
  put: (id, label, secret) => ({ args: ["store", `--label=${label}`, "service", service, "login", id], input: secret }),
  get: (id) => ({ args: ["lookup", "service", service, "login", id] }),
  remove: (id) => ({ args: ["clear", "service", service, "login", id] })
}

const security: Program = {
  name: "security",
  // As its own command line: arguments can be seen by other users
  put: (id, label, secret) => ({
    args: ["-i"],
    input: `add-generic-password -U -s ${service} -a ${id} -l "${label.replace(/["\\]/g, "")}" -w "${secret}"\n`
  }),
  get: (id) => ({ args: ["find-generic-password", "-s", service, "-a", id, "-w"] }),
  remove: (id) => ({ args: ["delete-generic-password", "-s", service, "-a", id] })
}

/** Milliseconds that the program may take: the store may ask the user to unlock it. */
const patience = 60_000

interface Ended {
  readonly isOk: boolean
  readonly output: string
}

const run = async ({ name }: Program, { args, input = "" }: Step, env: NodeJS.ProcessEnv): Promise<Ended> => {
  const child = spawn(name, args, { env, stdio: ["pipe", "pipe", "ignore"], timeout: patience })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  try {
    const [code] = await once(child, "close")
    return { isOk: code === 0, output: output.trim() }
  } catch {
    // The program is not there
    return { isOk: false, output: "" }
  }
}

/** The system's store. Without one, it takes and gives nothing. */
export const keyStoreOf = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): KeyStore => {
  const program = platform === "darwin" ? security : platform === "linux" ? secretTool : undefined
  if (program === undefined) return { put: async () => false, get: async () => undefined, remove: async () => {} }
  // Only the characters of base64url, which no program takes for a separator or an option
  const written = (secret: string): string => Buffer.from(secret).toString("base64url")
  const get = async (id: string): Promise<string | undefined> => {
    const { isOk, output } = await run(program, program.get(id), env)
    return isOk && output !== "" ? Buffer.from(output, "base64url").toString("utf8") : undefined
  }
  return {
    // `security -i` succeeds whatever its lines do: what counts is what the store has
    put: async (id, label, secret) => (await run(program, program.put(id, label, written(secret)), env)).isOk && (await get(id)) === secret,
    get,
    remove: async (id) => void (await run(program, program.remove(id), env))
  }
}
