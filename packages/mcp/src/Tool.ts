/** A tool: what a client is told of it, and what it does. */
import type { Client } from "@atelier/client"
import * as z from "zod"
import type { ToolName } from "./scopes.js"

interface Hints {
  /** Changes nothing. */
  readonly readOnly: boolean
  /** May destroy what was there before. */
  readonly destructive: boolean
  /** A second call with the same input changes nothing more. */
  readonly idempotent: boolean
}

export const readOnly: Hints = { readOnly: true, destructive: false, idempotent: true }
export const adding: Hints = { readOnly: false, destructive: false, idempotent: false }
export const repeatable: Hints = { readOnly: false, destructive: false, idempotent: true }
export const destructive: Hints = { readOnly: false, destructive: true, idempotent: false }
export const removing: Hints = { readOnly: false, destructive: true, idempotent: true }

export interface Tool<Input extends z.ZodRawShape, Output extends z.ZodRawShape> extends Hints {
  readonly name: ToolName
  readonly title: string
  readonly description: string
  readonly input: Input
  readonly output: Output
  readonly run: (client: Client, input: z.infer<z.ZodObject<Input>>, signal: AbortSignal) => Promise<z.infer<z.ZodObject<Output>>>
}

/** A tool that checks its input by its schema. */
export type AnyTool = Omit<Tool<z.ZodRawShape, z.ZodRawShape>, "run"> & {
  readonly run: (
    client: Client,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal
  ) => Promise<Readonly<Record<string, unknown>>>
}

/** Runs a tool with a signal that ends when its caller leaves and when it has answered, so that nothing that it began goes on. */
const whileRunning = async <A>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<A>): Promise<A> => {
  const controller = new AbortController()
  const leave = (): void => controller.abort(signal.reason)
  signal.addEventListener("abort", leave)
  if (signal.aborted) leave()
  try {
    return await run(controller.signal)
  } finally {
    signal.removeEventListener("abort", leave)
    controller.abort()
  }
}

/** Describes a tool. */
export const tool = <Input extends z.ZodRawShape, Output extends z.ZodRawShape>(described: Tool<Input, Output>): AnyTool => {
  const schema = z.object(described.input)
  return {
    ...described,
    run: (client, input, signal) => whileRunning(signal, (signal) => described.run(client, schema.parse(input), signal))
  }
}

export const workspaceInput = z.string().min(1).max(200).describe("The workspace: its id, its name, or OWNER/NAME.")

export const pathInput = z.string().min(1).max(4096).describe("Absolute, or relative to the workspace's directory.")
