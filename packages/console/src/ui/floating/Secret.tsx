/** A secret that is shown once. */
import { Button } from "../forms/Button.js"
import { Code } from "../text/Code.js"
import { Dialog } from "./Dialog.js"
import { FormActions } from "../forms/Form.js"

interface Props {
  readonly title: string
  readonly description: string
  /** Undefined: there is none to show. */
  readonly secret: string | undefined
  readonly done: string
  readonly onClose: () => void
}

export const Secret = ({ description, done, onClose, secret, title }: Props) => (
  <Dialog isKept isOpen={secret !== undefined} onClose={onClose} title={title} description={description} size="medium">
    <div className="form">
      <Code isWrapped text={secret ?? ""} />
      <FormActions>
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      </FormActions>
    </div>
  </Dialog>
)
