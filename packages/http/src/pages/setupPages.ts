/** The page on which the first user of a deployment is made. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Sessions, SetupTokens, Users } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { sessionCookie } from "../server/credentials/SessionCookie.js"
import { isLocalCaller, setupCaller } from "../server/request/setupCaller.js"
import { type Asked, type FormPages, judged, pair, type Refused, secretOf } from "./forms.js"
import { escaped, page } from "./page.js"
import { type PageReplacement, seeOther } from "./PageOptions.js"
import { logIn } from "./signInPages.js"
import { text } from "./text.js"

type Response = HttpServerResponse.HttpServerResponse

export const setupPages = ({ mount, served, settings, submitted }: FormPages, by: PageReplacement | undefined) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const users = yield* Users
    const setupTokens = yield* SetupTokens
    const cookie = sessionCookie(settings)

    const setupForm = (asked: Asked, refused?: Refused): Effect.Effect<Response> =>
      Effect.map(setupTokens.isNeeded({ isLocal: isLocalCaller(settings, asked.request, asked.info) }), (isNeeded) =>
        setupPage(asked, isNeeded, refused)
      )

    const setupPage = ({ brand, form, token }: Asked, needsToken: boolean, refused: Refused | undefined): Response => {
      const status = refused?.status ?? 200
      const setupToken = form.get("token") ?? ""
      // The token of the link goes along; one that has been refused can be typed again
      const isGiven = setupToken !== "" && status !== 403
      const isAsked = needsToken && !isGiven
      const { inputs, notice } = judged(
        [
          ...(isAsked ? [{ name: "token", label: text.setupToken, type: "text", autocomplete: "off" } as const] : []),
          { name: "email", label: text.email, type: "email", autocomplete: "email", value: form.get("email") ?? "" },
          { name: "username", label: text.username, type: "text", autocomplete: "username", value: form.get("username") ?? "" },
          { name: "name", label: text.fullName, type: "text", autocomplete: "name", value: form.get("name") ?? "", optional: true },
          { name: "password", label: text.password, type: "password", autocomplete: "new-password" }
        ],
        refused
      )
      return page(settings, brand, {
        title: text.setupTitle(brand.name),
        status,
        formAction: "",
        content: `<p>${text.setupLead}</p>
${isAsked ? `<p>${text.setupTokenLead}</p>\n` : ""}${notice}<form method="POST" action="${mount}/setup">
${token}
${needsToken && isGiven ? `<input type="hidden" name="token" value="${escaped(setupToken)}">\n` : ""}${inputs}
<div class="actions"><button type="submit">${text.createUser}</button></div>
</form>`
      })
    }

    const showSetup = served((asked) =>
      Effect.flatMap(Effect.isSuccess(users.requireFirst()), (done) =>
        done ? Effect.succeed(seeOther(`${mount}/login`)) : setupForm(asked)
      )
    )

    const setup = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/first",
        Effect.gen(function* () {
          const { form, info, request } = asked
          const fields = { email: form.get("email") ?? "", username: form.get("username") ?? "", name: form.get("name") ?? "" }
          const caller = setupCaller(settings, request, info, form.get("token") ?? "")
          yield* users.createFirst({ ...fields, password: secretOf(form, "password") }, caller)
          return cookie.set(seeOther(`${mount}/`), Redacted.value(yield* logIn(sessions, form)))
        }),
        (refused) => setupForm(asked, refused)
      )
    )

    return pair("/setup", by, showSetup, setup)
  })
