/** Sends spans to an OpenTelemetry receiver: OTLP over HTTP with JSON, https://opentelemetry.io/docs/specs/otlp/#otlphttp. */
import { Measure } from "@atelier/core/platform"
import { Cause, Context, Exit, Option, Tracer } from "effect"
import { randomBytes } from "node:crypto"

export interface OtlpOptions {
  /** The address that takes traces, such as `http://localhost:4318/v1/traces`. */
  readonly url: string
  /** What the spans are of, as `service.name`. */
  readonly service: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface OtlpTracer {
  readonly tracer: Tracer.Tracer
  /** Sends the waiting spans. Resolves when the receiver took them, or failed to. */
  readonly flush: () => Promise<void>
  /** The same, and nothing more is sent afterwards. */
  readonly close: () => Promise<void>
}

/** Spans that wait while the receiver is slow; further ones are dropped. */
const maximumWaiting = 10_000

/** Spans of one message, and milliseconds between messages. */
const batchSize = 512
const interval = 2_000

/** Milliseconds that the receiver may take. */
const timeout = 10_000

/** Attributes of one span, and characters of a value. */
const maximumAttributes = 64
const maximumValue = 4_096

/** Names that carry credentials: headers and queries of requests. */
const isSecret = (name: string): boolean => /^http\.(request|response)\.header\.|^url\.(full|query)$/.test(name)

const dropped = Measure.counter("traces_dropped_spans_total", "Spans that could not be sent.", [])
const sent = Measure.counter("traces_sent_spans_total", "Spans that a receiver took.", [])

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

const valueOf = (value: unknown) => {
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) return { intValue: String(value) }
  if (typeof value === "number") return { doubleValue: value }
  return { stringValue: (typeof value === "string" ? value : JSON.stringify(value ?? null)).slice(0, maximumValue) }
}

const attributesOf = (attributes: Iterable<readonly [string, unknown]>) =>
  Array.from(attributes)
    .filter(([name]) => !isSecret(name))
    .slice(0, maximumAttributes)
    .map(([key, value]) => ({ key, value: valueOf(value) }))

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : error instanceof Error ? error.name : "failure"

/** The status by the kind of failure: messages may hold what callers sent. */
const statusOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause) ? { code: 1 } : { code: 2, message: tagOf(Cause.squash(exit.cause)) }

interface SpanEvent {
  readonly name: string
  readonly time: bigint
  readonly attributes: Readonly<Record<string, unknown>>
}

class ExportedSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly spanId = randomBytes(8).toString("hex")
  readonly traceId: string
  readonly sampled: boolean
  readonly attributes = new Map<string, unknown>()
  readonly links: Array<Tracer.SpanLink>
  readonly events: Array<SpanEvent> = []
  status: Tracer.SpanStatus

  constructor(
    readonly name: string,
    readonly parent: Option.Option<Tracer.AnySpan>,
    readonly context: Context.Context<never>,
    links: ReadonlyArray<Tracer.SpanLink>,
    startTime: bigint,
    readonly kind: Tracer.SpanKind,
    private readonly ended: (span: ExportedSpan) => void
  ) {
    this.links = [...links]
    this.status = { _tag: "Started", startTime }
    this.traceId = Option.isSome(parent) ? parent.value.traceId : randomBytes(16).toString("hex")
    this.sampled = Option.isNone(parent) || parent.value.sampled
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (this.sampled) this.ended(this)
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
  }

  event(name: string, time: bigint, attributes: Readonly<Record<string, unknown>> = {}): void {
    if (this.events.length < maximumAttributes) this.events.push({ name, time, attributes })
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.links.push(...links)
  }
}

const wireSpan = ({ attributes, events, kind, links, name, parent, spanId, status, traceId }: ExportedSpan) => ({
  traceId,
  spanId,
  ...(Option.isSome(parent) ? { parentSpanId: parent.value.spanId } : {}),
  name,
  kind: kinds[kind],
  startTimeUnixNano: String(status.startTime),
  endTimeUnixNano: String(status._tag === "Ended" ? status.endTime : status.startTime),
  attributes: attributesOf(attributes),
  events: events.map((event) => ({
    name: event.name,
    timeUnixNano: String(event.time),
    attributes: attributesOf(Object.entries(event.attributes))
  })),
  links: links.map(({ attributes, span }) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    attributes: attributesOf(Object.entries(attributes))
  })),
  ...(status._tag === "Ended" ? { status: statusOf(status.exit) } : {})
})

/** Makes a tracer that sends spans in the background. A receiver that fails costs its batch of spans and nothing else. */
export const make = ({ headers = {}, service, url }: OtlpOptions): OtlpTracer => {
  let waiting: Array<ExportedSpan> = []
  let sending: Promise<void> = Promise.resolve()
  const resource = { attributes: attributesOf([["service.name", service]]) }

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      const body = JSON.stringify({
        resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "atelier" }, spans: spans.map(wireSpan) }] }]
      })
      const isTaken = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(timeout)
      }).then(
        async (response) => {
          await response.body?.cancel()
          return response.ok
        },
        () => false
      )
      const counter = isTaken ? sent : dropped
      counter().update(spans.length)
    }
  }
  /** One message at a time, so that a slow receiver holds one batch and the queue. */
  const flush = (): Promise<void> => (sending = sending.then(send))
  const timer = setInterval(() => void flush(), interval)
  timer.unref()

  const ended = (span: ExportedSpan): void => {
    if (waiting.length < maximumWaiting) waiting.push(span)
    else dropped().update(1)
  }

  return {
    tracer: Tracer.make({
      span: (name, parent, context, links, startTime, kind) => new ExportedSpan(name, parent, context, links, startTime, kind, ended),
      context: (execution) => execution()
    }),
    flush,
    close: () => {
      clearInterval(timer)
      return flush()
    }
  }
}
