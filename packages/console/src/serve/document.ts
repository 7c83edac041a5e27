import { matches } from "./fileAnswer.js"
import type { ConsoleSettings } from "./settings.js"

/** The page that starts the application. */
export interface DocumentAnswer {
  readonly status: 200 | 304 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

interface Document {
  /** The built `index.html`. */
  readonly html: string
  readonly settings: ConsoleSettings
  /** A random text, which the content security policy of the same answer has. */
  readonly nonce: string
}

/** Fills in the page: what the application has to know, where its files are, and the nonce for its styles. */
export const filled = ({ html, nonce, settings }: Document): string =>
  html
    .replace(/(<(?:link|script|style)\b[^>]*?)(\s*\/?>)/g, (_, tag: string, end: string) => `${tag} nonce="${nonce}"${end}`)
    .replace(/\b(href|src)="\.?\/(?!\/)/g, (_, attribute: string) => `${attribute}="${escaped(settings.base)}`)
    .replaceAll("__ATELIER_NAME__", () => escaped(settings.brand.name))
    .replaceAll("__ATELIER_CONSOLE__", () => escaped(JSON.stringify(settings)))

/**
 * Answers `GET` and `HEAD` for the page. `tag` changes with what the page is made of, except its random parts: a browser whose copy has the same
 * tag keeps the copy, and the policy with the nonce that came with it.
 */
export const documentOf = (
  document: Document,
  {
    isKnown,
    method,
    noneMatch,
    policy,
    tag
  }: {
    readonly method: string
    /** Whether the application has a screen at the address. */
    readonly isKnown: boolean
    readonly noneMatch: string | undefined
    readonly policy: string
    readonly tag: string
  }
): DocumentAnswer => {
  const etag = `W/"${tag}"`
  const headers = { "cache-control": "private, no-cache", etag }
  if (isKnown && matches(noneMatch, etag)) return { status: 304, headers, body: undefined }
  return {
    status: isKnown ? 200 : 404,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY"
    },
    body: method === "HEAD" ? undefined : filled(document)
  }
}
