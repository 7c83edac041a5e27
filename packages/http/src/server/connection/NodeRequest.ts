import * as Cookies from "@effect/platform/Cookies"
import type * as Headers from "@effect/platform/Headers"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as UrlParams from "@effect/platform/UrlParams"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Inspectable, Option, Stream } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"

type Request = HttpServerRequest.HttpServerRequest
type RequestError = HttpServerError.RequestError

interface Changes {
  readonly url?: string | undefined
  readonly headers?: Headers.Headers | undefined
  readonly remoteAddress?: string | undefined
}

/** A request of a Node server. Bodies are read by `body.ts`, within bounds; forms of several parts are not read. */
export class NodeRequest extends Inspectable.Class implements Request {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly url: string
  readonly headers: Headers.Headers
  private parsedCookies: Readonly<Record<string, string>> | undefined

  constructor(
    readonly source: IncomingMessage,
    readonly response: ServerResponse,
    private readonly changes: Changes = {}
  ) {
    super()
    this.url = changes.url ?? source.url ?? "/"
    this.headers = changes.headers ?? (source.headers as Headers.Headers)
  }

  get method(): Request["method"] {
    return (this.source.method ?? "GET").toUpperCase() as Request["method"]
  }

  get originalUrl(): string {
    return this.source.url ?? "/"
  }

  get cookies(): Readonly<Record<string, string>> {
    return (this.parsedCookies ??= Cookies.parseHeader(this.headers["cookie"] ?? ""))
  }

  get remoteAddress(): Option.Option<string> {
    return Option.fromNullable(this.changes.remoteAddress ?? this.source.socket.remoteAddress)
  }

  get stream(): Stream.Stream<Uint8Array, RequestError> {
    return NodeStream.fromReadable(
      () => this.source,
      (cause) => this.error("the body could not be read", cause)
    )
  }

  get text(): Effect.Effect<string, RequestError> {
    return Stream.mkString(Stream.decodeText(this.stream))
  }

  get json(): Effect.Effect<unknown, RequestError> {
    return Effect.tryMap(this.text, {
      try: (text): unknown => (text === "" ? null : JSON.parse(text)),
      catch: (cause) => this.error("the body is not JSON", cause)
    })
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, RequestError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, RequestError> {
    return NodeStream.toUint8Array(() => this.source, { onFailure: (cause) => this.error("the body could not be read", cause) }).pipe(
      Effect.map((bytes) => Uint8Array.from(bytes).buffer)
    )
  }

  get multipart(): Request["multipart"] {
    return Effect.dieMessage("bodies of several parts are not read")
  }

  get multipartStream(): Request["multipartStream"] {
    return Stream.dieMessage("bodies of several parts are not read")
  }

  get upgrade(): Request["upgrade"] {
    return Effect.fail(this.error("connections are taken up by WebSockets.ts"))
  }

  modify(changes: Changes): Request {
    return new NodeRequest(this.source, this.response, { ...this.changes, ...changes })
  }

  toJSON(): unknown {
    return { _id: "NodeRequest", method: this.method, url: this.originalUrl }
  }

  private error(description: string, cause?: unknown): RequestError {
    return new HttpServerError.RequestError({ request: this, reason: "Decode", description, cause })
  }
}
