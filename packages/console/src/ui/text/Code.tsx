import { Check, Copy } from "lucide-react"
import { useState } from "react"
import { codeText } from "../../texts/ui.js"
import { IconButton } from "../forms/Button.js"
import { notifyError } from "../floating/Toast.js"
import "./Code.css"

/** Puts a text into the clipboard. Browsers let only pages of HTTPS and of the same machine do so: elsewhere it is said that it failed. */
export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    notifyError(new Error(codeText.failed))
    return false
  }
}

/** A button that copies a text. */
export const CopyButton = ({ label = codeText.copy, text }: { readonly text: string; readonly label?: string }) => {
  const [isCopied, setCopied] = useState(false)
  return (
    <IconButton
      size="small"
      label={isCopied ? codeText.copied : label}
      icon={isCopied ? <Check /> : <Copy />}
      onClick={() => {
        void copyText(text).then((isDone) => {
          if (!isDone) return
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
