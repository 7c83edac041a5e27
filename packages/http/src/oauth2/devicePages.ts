/** The page on which a user types the code of a device, and answers it (RFC 8628 §3.3). It needs no script. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { DeviceAuthorizations, OAuthError } from "@atelier/core/oauth2"
import { Effect } from "effect"
import { type Asked, formPages, judged, type Refused } from "../pages/forms.js"
import { escaped, page } from "../pages/page.js"
import { queryOf } from "../pages/PageOptions.js"
import { text } from "../pages/text.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { withQuery } from "../server/codec/withQuery.js"
import { notSignedIn, type ProtocolAnswers, type Response } from "./answering.js"
import { oauthAnswer } from "../server/codec/oauthErrors.js"
import { permissionOf } from "./scopeTexts.js"

/** Short, as people may have to type it. */
export const devicePath = "/oauth2/device"

const operation = `POST ${devicePath}`

export const devicePages = ({ refuseOAuth, settings }: ProtocolAnswers) =>
  Effect.gen(function* () {
    const { mount, served, submitted } = yield* formPages
    const devices = yield* DeviceAuthorizations

    const formOf = ({ token }: Asked, content: string): string => `<form method="POST" action="${mount}${devicePath}">
${token}
${content}
</form>`

    const codePage = (asked: Asked, refused?: Refused): Response => {
      const { inputs, notice } = judged(
        [{ name: "user_code", label: text.deviceCode, type: "text", autocomplete: "off", value: asked.form.get("user_code") ?? "" }],
        refused
      )
      return page(settings, asked.brand, {
        title: text.deviceTitle,
        status: refused?.status ?? 200,
        formAction: "",
        content: `<p>${text.deviceLead}</p>
${notice}${formOf(
          asked,
          `${inputs}
<div class="actions"><button type="submit">${text.deviceNext}</button></div>`
        )}`
      })
    }

    /** Why a code was not taken. The fault is the code's where no device waits with it. */
    const codeRefused = (error: OAuthError): Refused => ({
      reason: error.message,
      status: oauthAnswer(error).status,
      validations: error.error === "invalid_grant" ? [{ field: "user_code", detail: text.deviceBad }] : []
    })

    const answerPage = (asked: Asked, code: string, username: string, app: string, scopes: ReadonlyArray<string>): Response =>
      page(settings, asked.brand, {
        title: text.consentTitle(app),
        formAction: "",
        content: `<p>${escaped(text.consentQuestion(app, username))}</p>
<ul>
${scopes.map((scope) => `<li>${escaped(permissionOf(scope))}</li>`).join("\n")}
</ul>
<p><strong>${text.deviceWarning}</strong></p>
${formOf(
  asked,
  `<input type="hidden" name="user_code" value="${escaped(code)}">
<div class="actions">
<button type="submit" name="decision" value="allow">${text.allow}</button>
<button class="button" type="submit" name="decision" value="deny">${text.deny}</button>
</div>`
)}`
      })

    const donePage = ({ brand }: Asked, isAllowed: boolean): Response =>
      page(settings, brand, {
        title: isAllowed ? text.deviceAllowed : text.deviceDenied,
        content: `<p>${text.deviceDone}</p>`
      })

    /** What a signed-in user is answered. Other callers go to the login, and come back here with the code of the address. */
    const forUsers = <R>(answer: (asked: Asked) => Effect.Effect<Response, never, R>) =>
      served((asked) => {
        const { user } = asked.info
        if (user?._tag === "Right") return Effect.provideService(answer(asked), CurrentActor, user.right)
        const message = user?._tag === "Left" ? user.left.message : notSignedIn.message
        if (settings.login === undefined) return Effect.succeed(refuseOAuth(new OAuthError({ error: "login_required", message })))
        const query = asked.request.method === "GET" ? queryOf(asked.request) : ""
        const redirect = `${mount}${devicePath}${query === "" ? "" : `?${query}`}`
        return Effect.succeed(HttpServerResponse.redirect(withQuery(settings.login, { message, redirect }), { status: 303 }))
      })

    const show = forUsers((asked) => Effect.succeed(codePage(asked)))

    const submit = forUsers((asked) => {
      const code = asked.form.get("user_code") ?? ""
      const decision = asked.form.get("decision")
      const answered =
        decision === "allow" || decision === "deny"
          ? Effect.as(devices.answer(code, decision === "allow"), donePage(asked, decision === "allow"))
          : Effect.zipWith(devices.find(code), CurrentActor, ({ app, scopes }, { username = "" }) =>
              answerPage(asked, code, username, app.name, scopes)
            )
      const use = Effect.catchTag(answered, "OAuthError", (error) => Effect.succeed(codePage(asked, codeRefused(error))))
      return submitted(asked, operation, use, (refused) => Effect.succeed(codePage(asked, refused)))
    })

    return [
      { method: "GET", path: devicePath, handler: show },
      { method: "POST", path: devicePath, handler: submit }
    ] satisfies ReadonlyArray<Page>
  })
