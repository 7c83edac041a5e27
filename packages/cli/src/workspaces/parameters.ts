/** The values of a template's parameters: from flags, a file, and questions. */
import type { Client, DynamicParametersResponse, PreviewParameter, Socket, templateVersions } from "@atelier/client"
import { readFile } from "node:fs/promises"
import { Failure, failureOf, usage } from "../Failure.js"
import type { Session } from "../Session.js"

export interface ParameterInput {
  /** Each as `NAME=VALUE`. */
  readonly parameter: ReadonlyArray<string>
  readonly parameterFile: string | undefined
}

export interface ParameterValue {
  readonly name: string
  readonly value: string
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads a JSON object of values; lists and numbers are written as the service takes them. */
export const parametersIn = (text: string, file: string): ReadonlyArray<ParameterValue> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw usage(`${file}: is not JSON.`)
  }
  if (!isObject(value)) throw usage(`${file}: must be a JSON object of parameters and their values.`)
  return Object.entries(value).map(([name, each]) => ({ name, value: typeof each === "string" ? each : JSON.stringify(each) }))
}

/** The values of the flags, which win over those of the file. */
export const parametersOf = async ({ parameter, parameterFile }: ParameterInput): Promise<ReadonlyArray<ParameterValue>> => {
  const values = new Map<string, string>()
  if (parameterFile !== undefined) {
    const text = await readFile(parameterFile, "utf8").catch((cause: unknown) => {
      throw usage(`--parameter-file: ${failureOf(cause, "").message}`)
    })
    for (const { name, value } of parametersIn(text, parameterFile)) values.set(name, value)
  }
  for (const each of parameter) {
    const at = each.indexOf("=")
    if (at < 1) throw usage(`--parameter: "${each}" must be NAME=VALUE.`)
    values.set(each.slice(0, at), each.slice(at + 1))
  }
  return [...values].map(([name, value]) => ({ name, value }))
}

/** The next parameter to ask for: one without a value of the user's. */
export const nextQuestion = (
  { parameters }: Pick<DynamicParametersResponse, "parameters">,
  answered: ReadonlySet<string>,
  isUpdate: boolean
): PreviewParameter | undefined =>
  parameters
    .filter(({ form_type, name, styling }) => !answered.has(name) && form_type !== "error" && styling.disabled !== true)
    // An update keeps what the workspace has: only what it cannot have is asked for
    .filter(({ required, value }) => !isUpdate || (required && !value.valid))
    .filter(({ ephemeral }) => !ephemeral)
    .toSorted((one, other) => one.order - other.order)[0]

const ask = async (
  { display_name, description, name, options, styling, type, value }: PreviewParameter,
  { ask: prompts }: Session
): Promise<string> => {
  const title = display_name === "" ? name : display_name
  const question = description === "" ? title : `${title} (${description})`
  const standard = value.valid ? value.value : ""
  if (type === "bool")
    return prompts.choose(
      question,
      ["true", "false"].map((each) => ({ name: each, value: each })),
      standard
    )
  if (options.length > 0 && type !== "list(string)") {
    return prompts.choose(
      question,
      options.map((option) => ({ name: option.name, value: option.value.value })),
      standard
    )
  }
  if (styling.mask_input === true) return prompts.secret(question)
  if (type !== "list(string)") return prompts.line(question, standard)
  const given = await prompts.line(
    `${question}, values with commas`,
    standard === "" ? "" : (JSON.parse(standard) as ReadonlyArray<string>).join(",")
  )
  return JSON.stringify(given === "" ? [] : given.split(",").map((each) => each.trim()))
}

/** A form that is open: each set of values is answered by what the form is then. */
const formOf = (socket: Socket) => {
  const messages = socket[Symbol.asyncIterator]()
  let id = 0
  const next = async (atLeast: number): Promise<DynamicParametersResponse> => {
    for (;;) {
      const { done, value } = await messages.next()
      if (done === true) throw new Failure({ message: "The service has closed the form." })
      const response: DynamicParametersResponse = JSON.parse(String(value))
      if (response.id >= atLeast) return response
    }
  }
  return {
    begin: () => next(-1),
    evaluate: (inputs: Readonly<Record<string, string>>, owner: string) => {
      socket.send(JSON.stringify({ id: ++id, inputs, owner_id: owner }))
      return next(id)
    }
  }
}

interface Form {
  /** The template version's id. */
  readonly version: string
  /** The owner's id. */
  readonly owner: string
  readonly given: ReadonlyArray<ParameterValue>
  readonly isUpdate: boolean
}

/** Asks for the parameters that have no value yet, one after the other as the form shows them. Without a terminal, the given ones are returned. */
export const promptedParameters = async (
  client: Client,
  { given, isUpdate, owner, version }: Form,
  session: Session
): Promise<ReadonlyArray<ParameterValue>> => {
  if (!session.ask.canAsk) return given
  const { openDynamicParameters }: typeof templateVersions = await import("@atelier/client/templateVersions")
  const socket = await openDynamicParameters(client, { templateversion: version, user_id: owner }, { signal: session.signal })
  try {
    const form = formOf(socket)
    const values = new Map(given.map(({ name, value }) => [name, value]))
    let shown = await form.begin()
    for (;;) {
      if (values.size > 0) shown = await form.evaluate(Object.fromEntries(values), owner)
      const wrong = shown.diagnostics.find(({ severity }) => severity === "error")
      if (wrong !== undefined) throw new Failure({ message: wrong.summary, details: wrong.detail === "" ? [] : [wrong.detail] })
      for (const { diagnostics, name } of shown.parameters) {
        const refused = values.has(name) ? diagnostics.find(({ severity }) => severity === "error") : undefined
        if (refused === undefined) continue
        session.out.warn(`${name}: ${refused.detail === "" ? refused.summary : refused.detail}`)
        values.delete(name)
      }
      const question = nextQuestion(shown, new Set(values.keys()), isUpdate)
      if (question === undefined) return [...values].map(([name, value]) => ({ name, value }))
      values.set(question.name, await ask(question, session))
    }
  } finally {
    socket.close()
  }
}
