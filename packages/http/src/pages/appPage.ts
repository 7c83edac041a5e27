/** The pages that take an app's place where it cannot be shown. agents-and-apps.md §19. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { escaped, page, type PageBrand } from "./page.js"
import { text } from "./text.js"
import type { HttpSettings } from "../server/request/Settings.js"

export interface AppPage {
  readonly status: number
  readonly title: string
  readonly message: string
  /** Whether another try may help. */
  readonly retry?: boolean
  /** The address of the page that starts the workspace, for a caller who may start it. */
  readonly start?: string
}

export const appPage = (
  settings: HttpSettings,
  brand: PageBrand,
  { message, retry = false, start, status, title }: AppPage
): HttpServerResponse.HttpServerResponse =>
  page(settings, brand, {
    title,
    status,
    content: [
      `<p>${escaped(message)}</p>`,
      ...(start === undefined ? [] : [`<div class="actions"><a class="button" href="${escaped(start)}">${text.startWorkspace}</a></div>`]),
      // An empty address is that of the page itself
      ...(retry ? [`<p><a href="">${text.retry}</a></p>`] : []),
      `<p><a href="${escaped(`${settings.accessUrl}/`)}">${text.backToService}</a></p>`
    ].join("\n")
  })
