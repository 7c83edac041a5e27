/** One message of a conversation: formatted where it is written in Markdown, and as a program wrote it otherwise. */
import { FileText, Pilcrow } from "lucide-react"
import { useState } from "react"
import { taskText } from "../../texts/tasks.js"
import { ansiSpans, plainText } from "../../ui/text/ansi.js"
import { CopyButton } from "../../ui/text/Code.js"
import { IconButton } from "../../ui/forms/Button.js"
import { Markdown } from "../../ui/text/Markdown.js"
import { Time } from "../../ui/page/Time.js"
import { isMarkdown } from "./conversation.js"
// The colours of a program's output
import "../../ui/text/Log.css"

/** A longer message is cut until the reader asks for all of it. */
const maximumShown = 8_000

interface Props {
  /** Who said it. */
  readonly by: string
  readonly at: string
  readonly text: string
  readonly isInput: boolean
}

export const Said = ({ at, by, isInput, text }: Props) => {
  const [isWhole, setWhole] = useState(false)
  const [chosen, setFormatted] = useState<boolean | undefined>()
  const canFormat = isMarkdown(text)
  const isFormatted = canFormat && chosen !== false
  const shown = isWhole || text.length <= maximumShown ? text : text.slice(0, maximumShown)
  const plain = (
    <div className="tk-plain">
      {ansiSpans(shown).map(({ style, text }, index) => (
        <span key={index} className={style}>
          {text}
        </span>
      ))}
    </div>
  )
  return (
    <div className={`tk-said ${isInput ? "tk-input" : ""}`}>
      <div className="tk-said-head">
        <span className="truncate">{by}</span>
        <span className="faint">
          <Time at={at} />
        </span>
        <span className="tk-said-tools">
          {canFormat ? (
            <IconButton
              size="small"
              label={isFormatted ? taskText.asText : taskText.formatted}
              icon={isFormatted ? <FileText /> : <Pilcrow />}
              onClick={() => setFormatted(!isFormatted)}
            />
          ) : null}
          <CopyButton text={plainText(text)} />
        </span>
      </div>
      <div className={`tk-text ${isFormatted ? "tk-formatted" : ""}`}>
        {isFormatted ? <Markdown text={shown} fallback={plain} /> : plain}
      </div>
      {shown.length < text.length ? (
        <button type="button" className="link tk-sub" onClick={() => setWhole(true)}>
          {taskText.whole(text.length)}
        </button>
      ) : null}
    </div>
  )
}
