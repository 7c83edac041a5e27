/** Tools that run programs in workspaces. */
import type { SandboxProcess } from "@atelier/client"
import * as z from "zod"
import { adding, destructive, readOnly, removing, tool, workspaceInput } from "./Tool.js"
import { sandboxOf, within } from "./workspaceOf.js"

const command = z.string().min(1).max(100_000).describe("A line of the shell.")
const cwd = z.string().max(4096).optional().describe("The directory to run in; the workspace's own unless given.")
const env = z
  .record(z.string().min(1).max(256), z.string().max(32_768))
  .refine((variables) => Object.keys(variables).length <= 256, "at most 256 variables")
  .optional()
  .describe("Variables in addition to those of a login.")
const processInput = z.string().min(1).max(64).describe("The id of the process.")

/** Bytes of output in one result. */
const usualOutput = 64 * 1024
const maximumOutput = 1024 * 1024
const outputBytes = z.int().min(1).max(maximumOutput).default(usualOutput)

const usualTime = 60_000
const maximumTime = 600_000

/** Milliseconds beyond a command's own time within which its answer has to come. */
const answerTime = 15_000

const described = {
  id: z.string(),
  program: z.string(),
  args: z.array(z.string()),
  status: z.enum(["running", "exited"]),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  started_at: z.string()
}

/** What a process writes from its attachment until it ends, `until` is aborted, or there is enough of it; and the offset behind exactly that. */
const outputOf = async (attached: SandboxProcess, maximum: number, until: AbortSignal) => {
  let offset: number | undefined
  let size = 0
  const stop = (): void => {
    offset ??= attached.offset
    // Ends both streams behind what has arrived
    attached.detach()
  }
  const textOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
    const decoder = new TextDecoder()
    let text = ""
    const reader = stream.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      text += decoder.decode(value, { stream: true })
      size += value.length
      if (size >= maximum) stop()
    }
  }
  until.addEventListener("abort", stop, { once: true })
  try {
    const [stdout, stderr] = await Promise.all([textOf(attached.stdout), textOf(attached.stderr)])
    return { stdout, stderr, offset: offset ?? attached.offset }
  } finally {
    until.removeEventListener("abort", stop)
    attached.detach()
  }
}

export const processTools = [
  tool({
    name: "exec",
    title: "Run a command",
    description:
      "Runs a line of the shell in a workspace, waits for its end, and returns its exit code and its output. Use start_process for servers.",
    ...destructive,
    input: {
      workspace: workspaceInput,
      command,
      cwd,
      env,
      stdin: z.string().max(maximumOutput).optional(),
      timeout_ms: z.int().min(1).max(maximumTime).default(usualTime).describe("Milliseconds after which the command is ended."),
      max_output_bytes: outputBytes.describe("Bytes of each output that are returned, from its beginning.")
    },
    output: {
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      stdout: z.string(),
      stderr: z.string(),
      stdout_truncated: z.boolean(),
      stderr_truncated: z.boolean(),
      timed_out: z.boolean(),
      duration_ms: z.number()
    },
    run: async (client, { command: line, max_output_bytes, timeout_ms, workspace, ...options }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      const ended = await sandbox.exec(line, {
        ...options,
        timeout: timeout_ms,
        maxOutputBytes: max_output_bytes,
        signal: within(signal, timeout_ms + answerTime)
      })
      return {
        exit_code: ended.exitCode,
        signal: ended.signal,
        stdout: ended.stdout,
        stderr: ended.stderr,
        stdout_truncated: ended.stdoutTruncated,
        stderr_truncated: ended.stderrTruncated,
        timed_out: ended.timedOut,
        duration_ms: ended.durationMs
      }
    }
  }),
  tool({
    name: "start_process",
    title: "Start a process",
    description: "Starts a line of the shell that goes on after the call, such as a server. It ends with its workspace, or by end_process.",
    ...adding,
    destructive: true,
    input: {
      workspace: workspaceInput,
      command,
      cwd,
      env,
      timeout_ms: z.int().min(1).optional().describe("Milliseconds after which the process is ended.")
    },
    output: { id: z.string(), pid: z.int() },
    run: async (client, { command: line, timeout_ms, workspace, ...options }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      const started = await sandbox.spawn(line, { ...options, stdin: false, timeout: timeout_ms, signal: within(signal, answerTime) })
      started.detach()
      return { id: started.id, pid: started.pid }
    }
  }),
  tool({
    name: "list_processes",
    title: "List processes",
    description: "Lists the processes that start_process started in a workspace, also those that have ended.",
    ...readOnly,
    input: { workspace: workspaceInput },
    output: { processes: z.array(z.object(described)) },
    run: async (client, { workspace }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      const processes = await sandbox.processes({ signal: within(signal, answerTime) })
      return {
        processes: processes.map(({ args, exit_code, id, program, signal: by, started_at, status }) => ({
          id,
          program,
          args: [...args],
          status,
          exit_code,
          signal: by,
          started_at
        }))
      }
    }
  }),
  tool({
    name: "read_process",
    title: "Read a process's output",
    description:
      "Returns what a process has written from an offset on, until it ends or the time is over. Pass the returned offset to read on.",
    ...readOnly,
    input: {
      workspace: workspaceInput,
      process: processInput,
      offset: z.int().min(0).default(0),
      wait_ms: z.int().min(0).max(30_000).default(1_000).describe("Milliseconds to wait for more output."),
      max_output_bytes: outputBytes.describe("Bytes after which it reads no more.")
    },
    output: {
      stdout: z.string(),
      stderr: z.string(),
      offset: z.int(),
      status: z.enum(["running", "exited"]),
      exit_code: z.int().nullable(),
      signal: z.string().nullable()
    },
    run: async (client, { max_output_bytes, offset, process, wait_ms, workspace }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      const attached = await sandbox.process(process, { offset, signal: within(signal, answerTime) })
      const written = await outputOf(attached, max_output_bytes, within(signal, wait_ms))
      const { exit_code, signal: by, status } = await attached.info({ signal: within(signal, answerTime) })
      return { ...written, status, exit_code, signal: by }
    }
  }),
  tool({
    name: "end_process",
    title: "End a process",
    description: "Ends a process and its children, and forgets its output.",
    ...removing,
    input: { workspace: workspaceInput, process: processInput },
    output: { ended: z.boolean() },
    run: async (client, { process, workspace }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      const attached = await sandbox.process(process, { signal: within(signal, answerTime) })
      await attached.delete({ signal: within(signal, answerTime) })
      return { ended: true }
    }
  })
]
