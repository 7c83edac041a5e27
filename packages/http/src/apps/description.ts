/** The route of `AppSessions` in OpenAPI 3.1: it is no endpoint of the contract, since it answers a browser with redirections. */
import type { Dialect } from "../wire/dialect.js"

/** The status that leads to the app. agents-and-apps.md §22 no. 7. */
export const handOverStatus = (wire: Dialect): 303 | 307 => (wire === "reference" ? 303 : 307)

const moved = (description: string) => ({ description, headers: { Location: { required: true, schema: { type: "string" } } } })
const refused = (name: string) => ({ $ref: `#/components/responses/${name}` })

/** The paths, as they are served in a dialect. */
export const appPaths = (wire: Dialect) => ({
  "/api/v2/applications/auth-redirect": {
    get: {
      tags: ["regions"],
      operationId: "regions.redirectToApp",
      summary: "Sign in at an app's host",
      description:
        "Sends a browser that is signed in to the service back to an app's host, with a session for apps in an encrypted parameter.",
      security: [{ session: [] }, {}],
      parameters: [{ name: "redirect_uri", in: "query", required: true, schema: { type: "string", minLength: 1, maxLength: 8192 } }],
      responses: {
        "303": moved("The browser goes to the login."),
        [handOverStatus(wire)]: moved("The browser goes to the app."),
        "400": refused("Invalid"),
        "401": refused("Unauthenticated"),
        "403": refused("Forbidden"),
        "404": refused("NotFound"),
        "414": refused("UrlTooLong"),
        "428": refused("PreconditionRequired"),
        "429": refused("TooManyRequests"),
        "431": refused("HeadTooLarge"),
        "500": refused("InternalError"),
        "503": refused("Unavailable"),
        "507": refused("StorageFull")
      }
    }
  }
})
