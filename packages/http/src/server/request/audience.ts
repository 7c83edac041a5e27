/** Whether a user sees the answer to a request, in a browser, or a program reads it. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"

type Request = HttpServerRequest.HttpServerRequest

/** Whether the caller takes HTML: browsers ask for pages, and send their forms, with this header. */
export const takesHtml = ({ headers }: Pick<Request, "headers">): boolean => /\btext\/html\b/i.test(headers["accept"] ?? "")

/** Paths below which programs ask, also with a browser's headers. */
const ofPrograms = /^\/(?:api|scim|derp|internal|oauth2|\.well-known)(?:\/|$)/

/** Paths among them that browsers visit: the pages of the authorization server, and where providers send browsers back to. */
const ofBrowsers = /^\/(?:oauth2\/device|(?:api\/v2\/)?oauth2\/authorize|api\/v2\/users\/(?:oidc|oauth2\/github)\/callback)\/?$/

/** Whether a user sees what is answered at a path. */
export const isForUser = (request: Pick<Request, "headers">, path: string): boolean =>
  takesHtml(request) && (!ofPrograms.test(path) || ofBrowsers.test(path))
