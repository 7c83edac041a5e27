/** Pages with a form: what they show, and how the form is read and answered. They need no script. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Redacted, type Scope } from "effect"
import { isRefusal, type Refusal, responseOf, statusOf } from "../wire/errors.js"
import { type Parameters, parametersOf, readForm } from "../server/request/form.js"
import { csrfTokenOf, isOwnForm, maskedToken } from "../server/credentials/Csrf.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { RateLimiter } from "../server/request/RateLimiter.js"
import { Settings } from "../server/request/Settings.js"
import { brandOf } from "./brandOf.js"
import { escaped, page, type PageBrand } from "./page.js"
import { type PageReplacement, queryOf, replacement } from "./PageOptions.js"
import { text } from "./text.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

interface Field {
  readonly name: string
  readonly label: string
  readonly type: "email" | "password" | "text"
  /** What browsers and password managers fill in (HTML Standard, "Autofill"). */
  readonly autocomplete: string
  readonly value?: string
  readonly optional?: boolean
}

export const inputOf = ({ autocomplete, label, name, optional = false, type, value = "" }: Field): string =>
  `<label for="${name}">${escaped(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${escaped(value)}"${optional ? "" : " required"}>`

export const noticeOf = (notice: string | undefined, isError = true): string =>
  notice === undefined ? "" : `<p${isError ? ' class="error" role="alert"' : ' class="notice" role="status"'}>${escaped(notice)}</p>\n`

/** A field that holds a secret. */
export const secretOf = (form: Parameters, name: string) => Redacted.make(form.get(name) ?? "")

/** One sentence about a refusal: its findings where it has some. */
const sentenceOf = (refusal: Exclude<Refusal, { readonly _tag: "NotModified" }>): string => {
  const { message, validations = [] } = responseOf(refusal)
  return validations.length === 0 ? message : validations.map(({ detail, field }) => `${field}: ${detail}`).join("; ")
}

/** What a page is made of: the request, and the form that it sends. */
export interface Asked {
  readonly request: Request
  readonly info: RequestInfo
  readonly form: Parameters
  /** The token that the page's form has to hold, as a field. */
  readonly token: string
  readonly brand: PageBrand
}

/** A page and what its form does, or what stands in for both. */
export const pair = (
  path: `/${string}`,
  by: PageReplacement | undefined,
  show: Page["handler"],
  submit: Page["handler"]
): ReadonlyArray<Page> => [
  { method: "GET", path, handler: by === undefined ? show : replacement(by, undefined), isCommon: true },
  { method: "POST", path, handler: by === undefined ? submit : replacement(by, undefined), isCommon: true }
]

/** Returns what pages with a form have in common. */
export const formPages = Effect.gen(function* () {
  const settings = yield* Settings
  const limiter = yield* RateLimiter
  const services = yield* Effect.context<never>()
  const { mount } = settings
  const brandOfPages = yield* brandOf

  const served = <R>(answer: (asked: Asked) => Effect.Effect<Response, never, R>): Page["handler"] =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const info = yield* CurrentRequest
      const form =
        request.method === "POST" ? yield* Effect.orElseSucceed(readForm(request), () => parametersOf("")) : parametersOf(queryOf(request))
      const token = `<input type="hidden" name="csrf_token" value="${escaped(maskedToken(csrfTokenOf(info, request)))}">`
      return yield* answer({ request, info, form, token, brand: yield* brandOfPages })
    }).pipe((effect) =>
      // The types of what use cases need are those of the whole application, which `services` is
      Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
    )

  /** Runs what a form asks for. A refusal shows the form again, with its reason. */
  const submitted = <E, R>(
    { form, info, request }: Asked,
    operation: string,
    use: Effect.Effect<Response, E, R>,
    again: (reason: string, status: number) => Effect.Effect<Response>
  ): Effect.Effect<Response, never, R> => {
    if (!isOwnForm(request, form.get("csrf_token"), settings)) return again(text.forged, 400)
    const limited = limiter.take("login", info, operation)
    if (limited !== undefined) return Effect.succeed(limited)
    return Effect.catchAll(use, (error) =>
      isRefusal(error) && error._tag !== "NotModified" ? again(sentenceOf(error), statusOf(error)) : Effect.die(error)
    )
  }

  /** A page whose one button does something for the user who is signed in. */
  const buttonPage = (
    { brand, token }: Asked,
    { action, button, lead, title }: { readonly title: string; readonly lead?: string; readonly action: string; readonly button: string },
    reason?: string,
    status = 200
  ): Response =>
    page(settings, brand, {
      title,
      status,
      formAction: "",
      content: `${lead === undefined ? "" : `<p>${lead}</p>\n`}${noticeOf(reason)}<form method="POST" action="${mount}${action}">
${token}
<div class="actions"><button type="submit">${button}</button></div>
</form>`
    })

  return { settings, mount, served, submitted, buttonPage }
})

export type FormPages = Effect.Effect.Success<typeof formPages>
