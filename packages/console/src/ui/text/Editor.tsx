import { Suspense } from "react"
import { lazyPart } from "../../app/lazy.js"
import { SkeletonLines } from "../page/States.js"
import "./Editor.css"

/** A place in a file; lines and columns count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface EditorProps {
  /** The name of the editor for screen readers, such as the file's path. */
  readonly label: string
  readonly value: string
  /** Called with the whole text after each change. Give the text back as `value`. */
  readonly onChange?: (value: string) => void
  /** Its ending decides the language. */
  readonly path: string
  readonly isReadOnly?: boolean
  /** ⌘S or Ctrl+S. */
  readonly onSave?: () => void
  /** A CSS length; default all of the element around it. */
  readonly height?: string
  /** Where the cursor goes: another object moves it. */
  readonly goTo?: Position | undefined
}

const CodeMirror = lazyPart(() => import("./CodeMirror.js").then(({ default: CodeMirror }) => CodeMirror))

/** Edits a text file. Each file needs an editor of its own (`key`), because the steps that can be undone are those of one file. */
export const Editor = (props: EditorProps) => (
  <div className="editor" style={{ height: props.height ?? "100%" }}>
    <Suspense
      fallback={
        <div className="editor-place">
          <SkeletonLines count={6} />
        </div>
      }
    >
      <CodeMirror {...props} />
    </Suspense>
  </div>
)
