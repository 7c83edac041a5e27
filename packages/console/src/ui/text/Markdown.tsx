import { type ReactNode, Suspense } from "react"
import { lazyPart } from "../../app/lazy.js"
import { SkeletonLines } from "../page/States.js"
import "./Markdown.css"

const MarkdownTree = lazyPart(() => import("./MarkdownTree.js").then(({ default: MarkdownTree }) => MarkdownTree))

/** A longer text is cut: no text of a user may stop the page. */
const maximumLength = 200_000

interface Props {
  readonly text: string
  /** What is shown until the parser has loaded. */
  readonly fallback?: ReactNode
}

/** A text in Markdown. Tags in it are shown as text, links lead to the web alone, and of pictures only icons of the service are loaded. */
export const Markdown = ({ fallback = <SkeletonLines count={6} />, text }: Props) => (
  <div className="markdown">
    <Suspense fallback={fallback}>
      <MarkdownTree text={text.length > maximumLength ? `${text.slice(0, maximumLength)}…` : text} />
    </Suspense>
  </div>
)
