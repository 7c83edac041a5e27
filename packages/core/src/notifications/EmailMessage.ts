/** Email messages, rendered as plain text and as HTML. notifications-audit-insights.md §A5. */
import { productName } from "../deployment/ProductName.js"
import type { Mail } from "./Mailer.js"

/** The content of an email message, before it is rendered. All texts are plain. */
export interface EmailMessage {
  readonly subject: string
  /** How the recipient is called. */
  readonly name: string
  readonly paragraphs: ReadonlyArray<string>
  readonly actions: ReadonlyArray<{ readonly label: string; readonly url: string }>
  /** Links below the message. */
  readonly links?: ReadonlyArray<{ readonly label: string; readonly url: string }>
}

/** The sender of a message. */
export interface Sender {
  /** The product's word. */
  readonly brand: string
  /** Where the deployment is reached. */
  readonly accessUrl: string
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

/** A text as HTML shows it, between tags and in quoted attributes. */
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

/** A text on one line: what follows in a header, or in a greeting, is not the writer's. */
const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim()

const plain = ({ actions, name, paragraphs }: EmailMessage): string =>
  [`Hi ${oneLine(name)},`, ...paragraphs, ...actions.map(({ label, url }) => `${label}: ${url}`)].join("\n\n")

const paragraph = (text: string): string => `<p>${escaped(text).replaceAll("\n", "<br>")}</p>`

const button = ({ label, url }: EmailMessage["actions"][number]): string =>
  `<p><a href="${escaped(url)}" style="display: inline-block; padding: 10px 16px; border-radius: 6px; background: #1f2937; color: #ffffff; text-decoration: none;">${escaped(label)}</a></p>`

const link = ({ label, url }: EmailMessage["actions"][number]): string => `<a href="${escaped(url)}">${escaped(label)}</a>`

const page = ({ actions, links = [], name, paragraphs, subject }: EmailMessage, { accessUrl, brand }: Sender): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(oneLine(subject))}</title>
  </head>
  <body style="max-width: 560px; margin: 40px auto; padding: 0 16px; font-family: sans-serif; line-height: 1.5; color: #111827;">
    <p>${escaped(productName(brand))}</p>
    <h1 style="font-size: 20px;">${escaped(oneLine(subject))}</h1>
    ${[`Hi ${oneLine(name)},`, ...paragraphs].map(paragraph).join("\n    ")}
    ${actions.map(button).join("\n    ")}
    <p style="font-size: 12px; color: #6b7280;">${[{ label: accessUrl, url: accessUrl }, ...links].map(link).join(" · ")}</p>
  </body>
</html>
`

/** A message in both forms. */
export const rendered = (message: EmailMessage, sender: Sender): Pick<Mail, "subject" | "text" | "html"> => ({
  subject: oneLine(message.subject),
  text: plain(message),
  html: page(message, sender)
})
