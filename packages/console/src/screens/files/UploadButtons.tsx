/** The buttons that choose files, and a folder with all that is in it. */
import { FolderUp, Upload } from "lucide-react"
import { type ChangeEvent, useRef } from "react"
import { filesText } from "../../texts/files.js"
import { Button, IconButton } from "../../ui/forms/Button.js"

interface Props {
  readonly onChosen: (files: ReadonlyArray<File>) => void
}

export const UploadButtons = ({ onChosen }: Props) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const choose = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    onChosen([...(target.files ?? [])])
    target.value = ""
  }
  const common = { className: "visually-hidden", type: "file", tabIndex: -1, onChange: choose } as const
  return (
    <>
      <IconButton kind="secondary" label={filesText.uploadFolder} icon={<FolderUp />} onClick={() => folder.current?.click()} />
      <Button icon={<Upload />} onClick={() => files.current?.click()}>
        {filesText.upload}
      </Button>
      <input ref={files} multiple aria-label={filesText.upload} {...common} />
      <input
        ref={(element) => {
          // The types of React do not know this attribute
          element?.setAttribute("webkitdirectory", "")
          folder.current = element
        }}
        aria-label={filesText.uploadFolder}
        {...common}
      />
    </>
  )
}
