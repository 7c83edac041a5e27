/** The page on which users create a token for programs. */
import { CurrentActor } from "@atelier/core/access"
import { ApiKeys } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { type Asked, type FormPages, pair } from "./forms.js"
import { escaped, page } from "./page.js"
import { type PageReplacement, seeOther } from "./PageOptions.js"
import { text } from "./text.js"

export const tokenPage = ({ buttonPage, mount, served, settings, submitted }: FormPages, by: PageReplacement | undefined) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys

    const toLogin = seeOther(`${mount}/login?${new URLSearchParams({ redirect: `${mount}/cli-auth` })}`)

    const tokenForm = (asked: Asked, reason?: string, status?: number) =>
      buttonPage(
        asked,
        {
          title: text.tokenTitle,
          lead: escaped(text.tokenLead(settings.names.sessionHeader)),
          action: "/cli-auth",
          button: text.createToken
        },
        reason,
        status
      )

    const showTokenForm = served((asked) => Effect.succeed(asked.info.user?._tag === "Right" ? tokenForm(asked) : toLogin))

    const createToken = served((asked) => {
      const { brand } = asked
      const { user } = asked.info
      if (user?._tag !== "Right") return Effect.succeed(toLogin)
      return submitted(
        asked,
        "POST /api/v2/users/{user}/keys",
        Effect.map(Effect.provideService(keys.create("me"), CurrentActor, user.right), (key) =>
          page(settings, brand, {
            title: text.tokenTitle,
            content: `<p>${text.tokenShown}</p>
<label for="token">${text.token}</label>
<textarea id="token" rows="2" readonly>${escaped(Redacted.value(key))}</textarea>`
          })
        ),
        ({ reason, status }) => Effect.succeed(tokenForm(asked, reason, status))
      )
    })

    return pair("/cli-auth", by, showTokenForm, createToken)
  })
