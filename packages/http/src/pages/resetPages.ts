/** The pages on which users replace a forgotten password. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Passcodes } from "@atelier/core/identity"
import { Effect } from "effect"
import { callInfo } from "../server/request/CurrentRequest.js"
import { type Asked, type FormPages, judged, noticeOf, pair, type Refused, secretOf } from "./forms.js"
import { page } from "./page.js"
import type { PageReplacement } from "./PageOptions.js"
import { text } from "./text.js"

type Response = HttpServerResponse.HttpServerResponse

export const resetPages = ({ mount, served, settings, submitted }: FormPages, by: PageReplacement | undefined) =>
  Effect.gen(function* () {
    const passcodes = yield* Passcodes

    const changeForm = ({ brand, form, token }: Asked, refused?: Refused, done?: string): Response => {
      const { inputs, notice } = judged(
        [
          { name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" },
          { name: "otp", label: text.passcode, type: "text", autocomplete: "one-time-code", value: form.get("otp") ?? "" },
          { name: "password", label: text.newPassword, type: "password", autocomplete: "new-password" }
        ],
        refused,
        done === undefined ? undefined : { said: done, tone: "done" }
      )
      return page(settings, brand, {
        title: text.resetTitle,
        status: refused?.status ?? 200,
        formAction: "",
        content: `${notice}<form method="POST" action="${mount}/reset-password/change">
${token}
${inputs}
<div class="actions"><button type="submit">${text.changePassword}</button></div>
</form>`
      })
    }

    const requestForm = ({ brand, form, token }: Asked, refused?: Refused): Response => {
      const { inputs, notice } = judged(
        [{ name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" }],
        refused
      )
      return page(settings, brand, {
        title: text.resetTitle,
        status: refused?.status ?? 200,
        formAction: "",
        content: `<p>${text.resetLead}</p>
${notice}<form method="POST" action="${mount}/reset-password">
${token}
${inputs}
<div class="actions"><button type="submit">${text.sendCode}</button></div>
</form>`
      })
    }

    const unavailable = ({ brand }: Asked): Response =>
      page(settings, brand, {
        title: text.resetTitle,
        content: `<p>${text.resetUnavailable}</p>\n<p><a href="${mount}/login">${text.backToLogin}</a></p>`
      })

    const requestCode = served((asked) => {
      if (!passcodes.canLeave) return Effect.succeed(unavailable(asked))
      return submitted(
        asked,
        "POST /api/v2/users/otp/request",
        Effect.gen(function* () {
          yield* passcodes.request(asked.form.get("email") ?? "", yield* callInfo)
          return changeForm(asked, undefined, text.codeSent)
        }),
        (refused) => Effect.succeed(requestForm(asked, refused))
      )
    })

    const changePassword = served((asked) => {
      const { brand, form } = asked
      return submitted(
        asked,
        "POST /api/v2/users/otp/change-password",
        Effect.gen(function* () {
          const use = {
            email: form.get("email") ?? "",
            one_time_passcode: secretOf(form, "otp"),
            password: secretOf(form, "password")
          }
          yield* passcodes.changePassword(use, yield* callInfo)
          return page(settings, brand, {
            title: text.resetTitle,
            content: `${noticeOf(text.passwordChanged, "done")}<p><a href="${mount}/login">${text.signIn}</a></p>`
          })
        }),
        (refused) => Effect.succeed(changeForm(asked, refused))
      )
    })

    return [
      ...pair(
        "/reset-password",
        by,
        served((asked) => Effect.succeed(passcodes.canLeave ? requestForm(asked) : unavailable(asked))),
        requestCode
      ),
      ...pair(
        "/reset-password/change",
        by,
        served((asked) => Effect.succeed(changeForm(asked))),
        changePassword
      )
    ]
  })
