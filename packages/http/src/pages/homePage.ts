/** The page at the root of a service whose console is elsewhere, or off. */
import { NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import { refuse } from "../server/codec/respond.js"
import { takesHtml } from "../server/request/audience.js"
import type { FormPages } from "./forms.js"
import { escaped, page } from "./page.js"
import { seeOther } from "./PageOptions.js"
import { text } from "./text.js"

/** Where a user goes on after signing in. Programs get JSON. */
export const homePage = ({ mount, served, settings }: FormPages) =>
  served(({ brand, info, request }) => {
    if (!takesHtml(request)) return Effect.succeed(refuse(new NotFound({ message: "Route not found." })))
    if (info.user?._tag !== "Right") return Effect.succeed(seeOther(`${mount}/login`))
    if (settings.console !== undefined) return Effect.succeed(seeOther(settings.console.base))
    const links: ReadonlyArray<readonly [address: string, label: string]> = [
      ...(brand.documentation === "" ? [] : [[brand.documentation, text.documentation] as const]),
      ...(settings.swagger.enable ? [[`${mount}/swagger/`, text.apiBrowser] as const] : []),
      [`${mount}/cli-auth`, text.tokenTitle],
      [`${mount}/logout`, text.signOut]
    ]
    return Effect.succeed(
      page(settings, brand, {
        title: brand.name,
        content: `<p>${escaped(text.signedInAs(info.user.right.username ?? ""))}</p>
<ul>
${links.map(([address, label]) => `<li><a href="${escaped(address)}">${label}</a></li>`).join("\n")}
</ul>`
      })
    )
  })
