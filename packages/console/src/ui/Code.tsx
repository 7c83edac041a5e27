import { Check, Copy } from "lucide-react"
import { useState } from "react"
import { codeText } from "../texts/ui.js"
import { IconButton } from "./Button.js"
import "./Code.css"

/** Puts a text into the clipboard. */
export const CopyButton = ({ label = codeText.copy, text }: { readonly text: string; readonly label?: string }) => {
  const [isCopied, setCopied] = useState(false)
  return (
    <IconButton
      size="small"
      label={isCopied ? codeText.copied : label}
      icon={isCopied ? <Check /> : <Copy />}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => {
          setCopied(true)
          setTimeout(() => setCopied(false), 1_500)
        })
      }}
    />
  )
}

/** Text to copy, such as a command. */
export const Code = ({ isWrapped = false, text }: { readonly text: string; readonly isWrapped?: boolean }) => (
  <div className="code">
    <pre className={isWrapped ? "code-wrapped" : ""} tabIndex={0}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} />
  </div>
)
