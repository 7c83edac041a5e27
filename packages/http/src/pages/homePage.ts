/** The page at the root. */
import { CurrentActor } from "@atelier/core/access"
import type { AppView } from "@atelier/core/agents"
import { appHostPattern, DeploymentOptions } from "@atelier/core/deployment"
import { NotFound } from "@atelier/core/platform"
import { Workspaces } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { refuse } from "../server/codec/respond.js"
import type { FormPages } from "./forms.js"
import { escaped, page } from "./page.js"
import { seeOther } from "./PageOptions.js"
import { startPath } from "./startPage.js"
import { text } from "./text.js"

/** Workspaces that the page shows. */
const maximumShown = 50

/** What a signed-in user may want next. Programs get JSON. */
export const homePage = ({ mount, served, settings }: FormPages) =>
  Effect.map(Effect.all([Workspaces, DeploymentOptions]), ([workspaces, options]) => {
    const hosts = appHostPattern(options)
    const { protocol } = new URL(settings.accessUrl)

    /** Where an app is opened; undefined for one that only runs a command, or that the deployment serves nowhere. */
    const appAddress = (
      { external, slug, subdomain_name, url = "" }: Pick<AppView, "external" | "slug" | "subdomain_name" | "url">,
      { agent, name, owner_name }: { readonly owner_name: string; readonly name: string; readonly agent: string }
    ): string | undefined => {
      if (!/^https?:/i.test(url)) return undefined
      if (external) return url
      if (subdomain_name && hosts !== "") return `${protocol}//${hosts.replace("*", subdomain_name)}/`
      return options.disablePathApps ? undefined : `${mount}/@${owner_name}/${name}.${agent}/apps/${encodeURIComponent(slug)}/`
    }

    return served(({ brand, info, request }) =>
      Effect.gen(function* () {
        if (!/\btext\/html\b/i.test(request.headers["accept"] ?? "")) return refuse(new NotFound({ message: "Route not found." }))
        if (info.user?._tag !== "Right") return seeOther(`${mount}/login`)
        const list = workspaces.list("owner:me", { limit: maximumShown, offset: 0 })
        const listed = yield* Effect.either(Effect.provideService(list, CurrentActor, info.user.right))
        const shown = listed._tag === "Left" ? [] : listed.right.workspaces
        const items = shown.map(({ latest_build, name, owner_name }) => {
          const apps = latest_build.resources
            .flatMap(({ agents = [] }) => agents)
            .flatMap((agent) => agent.apps.map((app) => ({ app, address: appAddress(app, { owner_name, name, agent: agent.name }) })))
            .flatMap(({ address, app }) => (address === undefined || app.hidden ? [] : [{ ...app, address }]))
            .filter(({ external }) => external || latest_build.status === "running")
          const agents = latest_build.status === "running" ? latest_build.resources.flatMap(({ agents: all = [] }) => all) : []
          const links = [
            ...agents.map(
              (agent) =>
                `<a href="${escaped(`${mount}/@${owner_name}/${name}.${agent.name}/terminal`)}">${agents.length === 1 ? text.terminal : escaped(`${text.terminal} ${agent.name}`)}</a>`
            ),
            ...apps.map(({ address, display_name, slug }) => `<a href="${escaped(address)}">${escaped(display_name || slug)}</a>`),
            ...(["stopped", "failed", "canceled"].includes(latest_build.status)
              ? [`<a href="${escaped(`${mount}${startPath(owner_name, name)}`)}">${text.startWorkspace}</a>`]
              : [])
          ]
          return `<li>${escaped(name)}: ${escaped(latest_build.status)}${links.length === 0 ? "" : ` (${links.join(", ")})`}</li>`
        })
        const links: ReadonlyArray<readonly [address: string, label: string]> = [
          ...(brand.documentation === "" ? [] : [[brand.documentation, text.documentation] as const]),
          ...(settings.swagger.enable ? [[`${mount}/swagger/`, text.apiBrowser] as const] : []),
          [`${mount}/cli-auth`, text.tokenTitle],
          [`${mount}/logout`, text.signOut]
        ]
        return page(settings, brand, {
          title: brand.name,
          content: `<p>${escaped(text.signedInAs(info.user.right.username ?? ""))}</p>
<h2>${text.workspaces}</h2>
${items.length === 0 ? `<p>${text.noWorkspaces}</p>` : `<ul>\n${items.join("\n")}\n</ul>`}
<ul>
${links.map(([address, label]) => `<li><a href="${escaped(address)}">${label}</a></li>`).join("\n")}
</ul>`
        })
      })
    )
  })
