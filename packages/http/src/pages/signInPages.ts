/** The page on which users sign in, by a password or at a provider. */
import { LoginMethods, Sessions, Users } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { sessionCookie } from "../server/credentials/SessionCookie.js"
import { callInfo } from "../server/request/CurrentRequest.js"
import type { Parameters } from "../server/request/form.js"
import { safeRedirect } from "../server/request/safeRedirect.js"
import { type Asked, type FormPages, judged, pair, type Refused, secretOf } from "./forms.js"
import { escaped, page } from "./page.js"
import { type PageReplacement, seeOther } from "./PageOptions.js"
import { text } from "./text.js"

/** Logs the user of a form in by the email address and password in it. */
export const logIn = (sessions: Sessions["Type"], form: Parameters) =>
  Effect.flatMap(callInfo, (info) => sessions.logIn({ email: form.get("email") ?? "", password: secretOf(form, "password") }, info))

export const signInPages = ({ mount, served, settings, submitted }: FormPages, by: PageReplacement | undefined) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const users = yield* Users
    const methods = yield* LoginMethods
    const cookie = sessionCookie(settings)

    /** Where a login goes on: a path of this service. */
    const targetOf = (form: Parameters): string => {
      const target = safeRedirect(form.get("redirect") ?? "")
      return target === "/" ? `${mount}/` : target
    }

    const loginForm = ({ brand, form, token }: Asked, refused?: Refused) =>
      Effect.map(methods.offered, ({ github, oidc, password, terms_of_service_url }) => {
        const target = targetOf(form)
        const external = (path: string, name: string): string =>
          `<a class="button" href="${escaped(`${mount}${path}?${new URLSearchParams({ redirect: target })}`)}">${escaped(text.signInWith(name))}</a>`
        const buttons = [
          ...(oidc === undefined ? [] : [external("/api/v2/users/oidc/callback", oidc.sign_in_text || text.oidc)]),
          ...(github === undefined ? [] : [external("/api/v2/users/oauth2/github/callback", text.github)])
        ]
        // The text of the query is chosen by the link: a page must not say whatever a link makes it say
        const lead = form.get("message") === undefined ? undefined : ({ said: text.signInAgain, tone: "lead" } as const)
        const { inputs, notice } = judged(
          [
            { name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" },
            { name: "password", label: text.password, type: "password", autocomplete: "current-password" }
          ],
          refused,
          lead
        )
        const passwordForm = `<form method="POST" action="${mount}/login">
${token}
<input type="hidden" name="redirect" value="${escaped(target)}">
${inputs}
<div class="actions"><button type="submit">${text.signIn}</button></div>
</form>
<p><a href="${mount}/reset-password">${text.forgotten}</a></p>`
        return page(settings, brand, {
          title: text.signInTitle(brand.name),
          status: refused?.status ?? 200,
          formAction: "",
          content: `${notice}${password ? passwordForm : ""}
${buttons.length === 0 ? "" : `<div class="actions">${buttons.join("\n")}</div>`}
${password || buttons.length > 0 ? "" : `<p>${text.noMethods}</p>`}
${terms_of_service_url === "" ? "" : `<p><a href="${escaped(terms_of_service_url)}">${text.terms}</a></p>`}`
        })
      })

    const showLogin = served((asked) =>
      Effect.gen(function* () {
        if (asked.info.user?._tag === "Right" && asked.form.get("prompt") !== "login") return seeOther(targetOf(asked.form))
        if (!(yield* Effect.isSuccess(users.requireFirst()))) return seeOther(`${mount}/setup`)
        return yield* loginForm(asked)
      })
    )

    const login = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/login",
        Effect.map(logIn(sessions, asked.form), (token) => cookie.set(seeOther(targetOf(asked.form)), Redacted.value(token))),
        (refused) => loginForm(asked, refused)
      )
    )

    return pair("/login", by, showLogin, login)
  })
