/** Parameters of requests that OAuth2 clients and browsers send: of queries and of forms. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { invalidRequest, type OAuthError } from "@atelier/core/oauth2"
import { Duration, Effect } from "effect"
import { type BodyRefusal, isForm, readText } from "./body.js"

/** Bytes of a form. */
const maximumForm = 64 * 1024

const formTimeout = Duration.seconds(10)

/** Parameters by name; a parameter without a value counts as absent (RFC 6749 §3.1). */
export interface Parameters {
  readonly get: (name: string) => string | undefined
  readonly all: (name: string) => ReadonlyArray<string>
  /** Those of the names that were given more than once. */
  readonly repeated: (names: ReadonlyArray<string>) => ReadonlyArray<string>
}

export const parametersOf = (text: string): Parameters => {
  const parameters = new URLSearchParams(text)
  const all = (name: string) => parameters.getAll(name).filter((value) => value !== "")
  return {
    all,
    get: (name) => all(name)[0],
    repeated: (names) => names.filter((name) => parameters.getAll(name).length > 1)
  }
}

/** Reads a form. Fails with `invalid_request` for a body of another type, and as `readText` does. */
export const readForm = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Parameters, OAuthError | BodyRefusal> =>
  isForm(request.headers["content-type"])
    ? Effect.map(readText(request, maximumForm, formTimeout), parametersOf)
    : Effect.fail(invalidRequest("The body must be of the type application/x-www-form-urlencoded."))
