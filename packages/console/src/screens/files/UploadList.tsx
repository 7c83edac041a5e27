/** Uploads that go on, wait for an answer, or have failed. */
import { X } from "lucide-react"
import { filesText } from "../../texts/files.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { byteText } from "../../ui/page/bytes.js"
import type { Upload } from "./uploads.js"

interface Props {
  readonly uploads: ReadonlyArray<Upload>
  readonly onRemove: (id: number) => void
  readonly onReplace: (id: number) => void
}

/** A dropped folder has more than can be looked at. */
const maximumShown = 20

export const UploadList = ({ onRemove, onReplace, uploads }: Props) =>
  uploads.length === 0 ? null : (
    <ul className="files-uploads" aria-label={filesText.uploads}>
      {uploads.slice(0, maximumShown).map(({ file: { size }, id, message, name, sent, state }) => (
        <li key={id} className="files-upload">
          <span className="truncate" title={name}>
            {name}
          </span>
          {state === "taken" ? (
            <>
              <span className="faint">{filesText.replaceHint}</span>
              <Button size="small" onClick={() => onReplace(id)}>
                {filesText.replace}
              </Button>
            </>
          ) : state === "failed" ? (
            <span className="files-failed" role="alert">
              {filesText.uploadFailed(name)}: {message}
            </span>
          ) : (
            <>
              <progress aria-label={filesText.uploading(name)} max={Math.max(1, size)} value={sent} />
              <span className="faint files-sent">{state === "waiting" ? filesText.waiting : `${byteText(sent)} / ${byteText(size)}`}</span>
            </>
          )}
          <IconButton size="small" label={filesText.cancel(name)} icon={<X />} onClick={() => onRemove(id)} />
        </li>
      ))}
      {uploads.length > maximumShown ? (
        <li className="files-upload faint">{filesText.moreUploads(uploads.length - maximumShown)}</li>
      ) : null}
    </ul>
  )
