/** Pages with a form: what they show, and how the form is read and answered. They need no script. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Redacted, type Scope } from "effect"
import type { Validation } from "@atelier/core/platform"
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

/** The kinds of notices: the reason of a refusal, a success, or an instruction. */
type Tone = "error" | "done" | "lead"

const noticeMarks: Readonly<Record<Tone, string>> = {
  error: ' class="error" role="alert"',
  done: ' class="notice" role="status"',
  lead: ""
}

const noticeId = "notice"

export const noticeOf = (notice: string | undefined, tone: Tone = "error"): string =>
  notice === undefined ? "" : `<p id="${noticeId}"${noticeMarks[tone]}>${escaped(notice)}</p>\n`

/** Why a form was refused. */
export interface Refused {
  /** All of it, as one sentence. */
  readonly reason: string
  readonly status: number
  /** What is wrong with which field. */
  readonly validations: ReadonlyArray<Validation>
}

/** A sentence, which begins with a capital letter. */
const sentence = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())

/** A field, and its fault below it. `describedBy` is the id of a notice that the field is read with. */
const inputOf = (
  { autocomplete, label, name, optional = false, type, value = "" }: Field,
  faults: ReadonlyArray<string>,
  isFocused: boolean,
  describedBy: string | undefined
): string => {
  const hasFault = faults.length > 0
  const descriptions = [...(hasFault ? [`${name}-fault`] : []), ...(describedBy === undefined ? [] : [describedBy])]
  const marks = [
    ...(optional ? [] : [" required"]),
    ...(hasFault ? [' aria-invalid="true"'] : []),
    ...(descriptions.length === 0 ? [] : [` aria-describedby="${descriptions.join(" ")}"`]),
    ...(isFocused ? [" autofocus"] : [])
  ].join("")
  return `<label for="${name}">${escaped(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${escaped(value)}"${marks}>${
    hasFault ? `\n<p class="fault" id="${name}-fault">${escaped(faults.map(sentence).join(" "))}</p>` : ""
  }`
}

/**
 * The fields of a form, each with its fault; and above them a notice: the faults of no field, or what else there is to say. The focus is in the first field with a
 * fault, or in the first that is still to be filled in. Screen readers read the notice with that field: they leave out what a page has when it is loaded.
 */
export const judged = (
  fields: ReadonlyArray<Field>,
  refused: Refused | undefined,
  otherwise?: { readonly said: string; readonly tone: Tone }
): { readonly notice: string; readonly inputs: string } => {
  const validations = refused?.validations ?? []
  const faultsOf = (name: string) => validations.filter(({ field }) => field === name).map(({ detail }) => detail)
  const others = validations.filter(({ field }) => !fields.some(({ name }) => name === field))
  const above = validations.length === 0 ? refused?.reason : others.length === 0 ? undefined : foundIn(others)
  const notice = refused === undefined && otherwise !== undefined ? noticeOf(otherwise.said, otherwise.tone) : noticeOf(above)
  const focused =
    fields.find(({ name }) => faultsOf(name).length > 0) ??
    fields.find(({ optional = false, value = "" }) => !optional && value === "") ??
    fields[0]
  const inputs = fields.map((field) => {
    const isFocused = field === focused
    return inputOf(field, faultsOf(field.name), isFocused, isFocused && notice !== "" ? noticeId : undefined)
  })
  return { notice, inputs: inputs.join("\n") }
}

/** A field that holds a secret. */
export const secretOf = (form: Parameters, name: string) => Redacted.make(form.get(name) ?? "")

const foundIn = (validations: ReadonlyArray<Validation>): string => validations.map(({ detail, field }) => `${field}: ${detail}`).join("; ")

/** Why a form was refused: what was found where something was, and the message elsewhere. */
const refusedBy = (refusal: Exclude<Refusal, { readonly _tag: "NotModified" }>): Refused => {
  const { message, validations = [] } = responseOf(refusal)
  return { reason: validations.length === 0 ? message : foundIn(validations), status: statusOf(refusal), validations }
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
    again: (refused: Refused) => Effect.Effect<Response>
  ): Effect.Effect<Response, never, R> => {
    if (!isOwnForm(request, form.get("csrf_token"), settings)) return again({ reason: text.forged, status: 400, validations: [] })
    if (limiter.take("login", info, operation) !== undefined) return again({ reason: text.tooMany, status: 429, validations: [] })
    return Effect.catchAll(use, (error) => (isRefusal(error) && error._tag !== "NotModified" ? again(refusedBy(error)) : Effect.die(error)))
  }

  /** A page whose one button does something for the user who is signed in. */
  const buttonPage = (
    { brand, token }: Asked,
    {
      action,
      button,
      isLeft = false,
      lead,
      title
    }: {
      readonly title: string
      readonly lead?: string
      readonly action: string
      readonly button: string
      /** A link leads back to the service, for a user who came here by mistake. */
      readonly isLeft?: boolean
    },
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
</form>${isLeft ? `\n<p><a href="${mount}/">${text.backToService}</a></p>` : ""}`
    })

  return { settings, mount, served, submitted, buttonPage }
})

export type FormPages = Effect.Effect.Success<typeof formPages>
