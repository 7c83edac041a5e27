/** The elements of a text in Markdown. The parser gives a tree and no HTML: only what is named here is drawn. */
import type { MarkedToken, Token, Tokens } from "marked"
import { Fragment, type ReactNode, useMemo } from "react"
import { iconOf } from "../../app/config.js"
import { markdownText } from "../../texts/ui.js"
import { maximumDepth, tokensOf } from "./markdownTokens.js"

const isWeb = (address: string): boolean => /^https?:\/\//i.test(address) && URL.canParse(address)

/** The parser gives characters such as `&lt;` as they are written. */
const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0"
}
const readEntities = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity)

const headings = ["h2", "h3", "h4", "h5", "h6", "h6"] as const

const Link = ({ children, href }: { readonly href: string; readonly children: ReactNode }) =>
  isWeb(href) ? (
    <a className="link" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ) : (
    <>{children}</>
  )

const Picture = ({ href, text }: Tokens.Image) => {
  const icon = iconOf(href)
  if (icon !== undefined && "address" in icon) return <img src={icon.address} alt={text} />
  return <Link href={href}>{text === "" ? href : text}</Link>
}

const Row = ({ cells, tag: Tag }: { readonly cells: ReadonlyArray<Tokens.TableCell>; readonly tag: "th" | "td" }) => (
  <tr>
    {cells.map(({ align, tokens }, index) => (
      <Tag key={index} style={align === null ? undefined : { textAlign: align }}>
        {drawn(tokens, 0)}
      </Tag>
    ))}
  </tr>
)

const element = (given: Token, depth: number): ReactNode => {
  // No extension adds kinds of its own
  const token = given as MarkedToken
  if (depth > maximumDepth) return token.raw
  const inner = (tokens: ReadonlyArray<Token> | undefined): ReactNode => drawn(tokens ?? [], depth + 1)
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading": {
      const Heading = headings[token.depth - 1] ?? "h6"
      return <Heading>{inner(token.tokens)}</Heading>
    }
    case "paragraph":
      return <p>{inner(token.tokens)}</p>
    case "text":
      return "tokens" in token && token.tokens !== undefined ? inner(token.tokens) : readEntities(token.text)
    case "escape":
      return readEntities(token.text)
    case "strong":
      return <strong>{inner(token.tokens)}</strong>
    case "em":
      return <em>{inner(token.tokens)}</em>
    case "del":
      return <del>{inner(token.tokens)}</del>
    case "codespan":
      return <code>{readEntities(token.text)}</code>
    case "br":
      return <br />
    case "hr":
      return <hr />
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      )
    case "blockquote":
      return <blockquote>{inner(token.tokens)}</blockquote>
    case "list": {
      const List = token.ordered ? "ol" : "ul"
      return (
        <List start={token.ordered && typeof token.start === "number" ? token.start : undefined}>
          {token.items.map((item, index) => (
            <li key={index} className={item.task ? "markdown-task" : undefined}>
              {inner(item.tokens)}
            </li>
          ))}
        </List>
      )
    }
    case "checkbox":
      return (
        <input
          type="checkbox"
          aria-label={token.checked ? markdownText.done : markdownText.open}
          checked={token.checked}
          readOnly
          disabled
        />
      )
    case "table":
      return (
        <div className="markdown-table" tabIndex={0} role="group" aria-label={markdownText.table}>
          <table>
            <thead>
              <Row cells={token.header} tag="th" />
            </thead>
            <tbody>
              {token.rows.map((cells, index) => (
                <Row key={index} cells={cells} tag="td" />
              ))}
            </tbody>
          </table>
        </div>
      )
    case "link":
      return <Link href={token.href}>{inner(token.tokens)}</Link>
    case "image":
      return <Picture {...token} />
    default:
      return token.raw
  }
}

const drawn = (tokens: ReadonlyArray<Token>, depth: number): ReactNode =>
  tokens.map((token, index) => <Fragment key={index}>{element(token, depth)}</Fragment>)

const MarkdownTree = ({ text }: { readonly text: string }) => {
  const tokens = useMemo(() => tokensOf(text), [text])
  if (tokens === undefined)
    return (
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    )
  return <>{drawn(tokens, 0)}</>
}

export default MarkdownTree
