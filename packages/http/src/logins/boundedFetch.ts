/** Bytes of an answer of a provider. Organizations and keys of the largest ones are far below. */
const maximumAnswer = 1024 * 1024

/** Seconds a provider may take to answer. */
export const answerTimeout = 10

/** A request with a bounded answer. */
export interface BoundedRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | Headers
  readonly body?: string | URLSearchParams | null
  readonly signal?: AbortSignal | undefined
}

/** Asks a provider: follows no redirection, waits for a bounded time, and reads a bounded answer to its end. */
export const boundedFetch = async (url: string | URL, { body, headers, method, signal }: BoundedRequest = {}): Promise<Response> => {
  // `AbortSignal.any` lets garbage collection take a signal of `AbortSignal.timeout`, whose time then never ends
  const controller = new AbortController()
  const end = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException("the provider did not answer in time", "TimeoutError")),
    answerTimeout * 1_000
  )
  if (signal?.aborted === true) end()
  signal?.addEventListener("abort", end)
  try {
    const response = await fetch(url, {
      method: method ?? "GET",
      ...(headers === undefined ? {} : { headers: new Headers(headers) }),
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: controller.signal
    })
    const { headers: answered, status } = response
    return new Response(hasNoBody(status) ? null : await readBounded(response), { status, headers: answered })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", end)
  }
}

/** Statuses that a `Response` with a body cannot have. */
const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

const readBounded = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // Leaving the loop cancels the rest
    if (size > maximumAnswer) throw new TypeError(`the provider's answer is larger than ${maximumAnswer} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
