/** One request and its answer. The generated operations call this. */
import { AtelierError, type Validation } from "./AtelierError.js"
import type { Client } from "./Client.js"

export interface CallOptions {
  /** Ends the call, which then fails with the signal's reason. `AbortSignal.timeout(5_000)` bounds its time. */
  readonly signal?: AbortSignal | undefined
}

/** The options of a request that is no operation of the generated ones. */
export interface RequestOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"

/** A value of a path or query parameter. */
type Parameter = string | number | boolean | ReadonlyArray<string | number | boolean> | null | undefined

/** An operation's parameters by name, and its body. */
export type Input = object

/** An input in the parts of a request. */
interface Encoded {
  readonly path: string
  readonly body: unknown
  readonly contentType: unknown
}

/** A segment of a path: URLs cannot have an empty one, and read `.` and `..` as directions. */
const segmentOf = (name: string, value: Parameter): string => {
  const text = String(value ?? "")
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name}: must be neither empty nor dots`)
  return encodeURIComponent(text)
}

/** Puts an input into a path template, such as `/api/v2/users/{user}`: what it does not name is the query. */
export const encode = (template: string, input: Input): Encoded => {
  const { body, contentType, ...parameters }: Readonly<Record<string, unknown>> = { ...input }
  const given = new Map(Object.entries(parameters as Readonly<Record<string, Parameter>>))
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = segmentOf(name, given.get(name))
    given.delete(name)
    return segment
  })
  const query = new URLSearchParams()
  for (const [name, value] of given) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null) query.append(name, String(one))
  }
  const text = query.toString()
  return { path: text === "" ? path : `${path}?${text}`, body, contentType }
}

/** Reads an answer. */
export type Reader = (response: Response) => Promise<unknown>

/** Reads JSON; nothing where there is no body. */
export const json: Reader = async (response) => {
  const text = await response.text()
  return text === "" ? undefined : JSON.parse(text)
}

export const text: Reader = (response) => response.text()

export const bytes: Reader = async (response) => new Uint8Array(await response.arrayBuffer())

/** Reads to the end, so that the connection can be used again. */
export const nothing: Reader = async (response) => void (await response.arrayBuffer())

/** Bytes that are sent as they are, such as a `Buffer`. */
export type Bytes = Uint8Array | Blob

const isBytes = (body: unknown): body is Bytes => body instanceof Uint8Array || body instanceof Blob

const bodyOf = ({ body, contentType }: Encoded): Pick<RequestInit, "body" | "headers"> => {
  if (body === undefined) return {}
  // `fetch` sends a stream only with this option, which the library's type does not have
  if (body instanceof ReadableStream) return { body, duplex: "half", headers: { "Content-Type": String(contentType) } } as RequestInit
  // The library's type leaves out the bytes of a Buffer, whose memory might be shared
  if (isBytes(body)) return { body: body as Blob, headers: { "Content-Type": String(contentType) } }
  return { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }
}

/** Sends a request; answers the response of a success. Fails with an `AtelierError`, or with the reason of the signal. */
export const send = async (
  client: Client,
  method: Method,
  template: string,
  input: Input,
  { headers: own, signal }: RequestOptions = {}
): Promise<Response> => {
  const encoded = encode(template, input)
  const body = bodyOf(encoded)
  const headers = { ...(await client.headers()), ...body.headers, ...own }
  const response = await answered(
    () =>
      client.fetch(`${client.baseUrl}${encoded.path}`, {
        ...body,
        method,
        headers,
        // A redirect would take the token to another place
        redirect: "error",
        ...(signal === undefined ? {} : { signal })
      }),
    signal
  )
  if (response.ok) return response
  throw await refusalOf(client, response, signal)
}

/** Calls an operation. */
export const call = async <A>(
  client: Client,
  method: Method,
  template: string,
  read: Reader,
  input: Input = {},
  options: RequestOptions = {}
): Promise<A> => {
  const response = await send(client, method, template, input, options)
  // The contract says what an answer is
  return (await answered(() => read(response), options.signal, response.status)) as A
}

/** Waits for an answer. Without one, fails with the reason of the signal, or with an error that has the cause. */
const answered = async <A>(wait: () => Promise<A>, signal: AbortSignal | undefined, status = 0): Promise<A> => {
  try {
    return await wait()
  } catch (cause) {
    signal?.throwIfAborted()
    throw status === 0 || !(cause instanceof SyntaxError)
      ? new AtelierError({ status: 0, message: "The service did not answer.", detail: detailOf(cause), cause })
      : new AtelierError({ status, message: "The answer is not JSON.", detail: cause.message, cause })
  }
}

/** Describes a failed `fetch`: Node gives the reason as the cause of an error without details. */
const detailOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error && cause.cause.message !== "" ? cause.cause.message : cause.message
}

/** The refusals of the interface and of SCIM, as far as an answer has them: a proxy answers otherwise. */
interface Refusal {
  readonly message?: unknown
  readonly detail?: unknown
  readonly validations?: unknown
}

const stringOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const isValidation = (value: unknown): value is Validation =>
  typeof value === "object" && value !== null && "field" in value && "detail" in value

/** Reads a refusal as an error. */
const refusalOf = async (client: Client, response: Response, signal: AbortSignal | undefined): Promise<AtelierError> => {
  const { headers, status } = response
  const written = await answered(() => response.text(), signal)
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  return new AtelierError({
    status,
    ...describedBy(written, response.statusText === "" ? `The service answered ${status}.` : response.statusText),
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    requestId: headers.get(client.requestIdHeader) ?? undefined
  })
}

/** The message of a refusal, from its body. */
const describedBy = (
  written: string,
  otherwise: string
): { readonly message: string; readonly detail: string | undefined; readonly validations: ReadonlyArray<Validation> } => {
  const { detail, message, validations } = refusalIn(written)
  const said = stringOf(message)
  return {
    // Refusals of SCIM have a detail alone
    message: said ?? stringOf(detail) ?? otherwise,
    detail: said === undefined ? undefined : stringOf(detail),
    validations: Array.isArray(validations) ? validations.filter(isValidation) : []
  }
}

const asRefusal = (body: unknown): Refusal => (typeof body === "object" && body !== null ? body : {})

/** The message of a refusal that a stream sent. */
export const refusalMessage = (body: unknown, otherwise: string): string => stringOf(asRefusal(body).message) ?? otherwise

const refusalIn = (written: string): Refusal => {
  try {
    return asRefusal(JSON.parse(written))
  } catch {
    return {}
  }
}

/** The address of an operation, for a browser to go to. */
export const addressOf = (client: Client, template: string, input: Input): string => `${client.baseUrl}${encode(template, input).path}`
