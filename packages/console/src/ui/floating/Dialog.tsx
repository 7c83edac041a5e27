import { X } from "lucide-react"
import { Dialog as Radix } from "radix-ui"
import { type ReactNode, useState } from "react"
import { dialogText } from "../../texts/ui.js"
import { Button, IconButton } from "../forms/Button.js"
import { Field, Input } from "../forms/Field.js"
import { Form, FormActions } from "../forms/Form.js"
import "./Dialog.css"

export interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  readonly size?: "small" | "medium" | "large"
  /** Only its buttons close it: what it shows cannot be seen again. */
  readonly isKept?: boolean
  readonly children?: ReactNode
}

export const Dialog = ({ children, description, isKept = false, isOpen, onClose, size = "small", title }: DialogProps) => (
  <Radix.Root open={isOpen} onOpenChange={(open) => (open ? undefined : onClose())}>
    <Radix.Portal>
      <Radix.Overlay className="dialog-scrim" />
      <Radix.Content
        className={`dialog dialog-${size}`}
        onOpenAutoFocus={(event) => {
          // The first control closes the dialog, and would show its tooltip
          event.preventDefault()
          if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
        }}
        onInteractOutside={(event) => (isKept ? event.preventDefault() : undefined)}
        onEscapeKeyDown={(event) => (isKept ? event.preventDefault() : undefined)}
        {...(description === undefined ? { "aria-describedby": undefined } : {})}
      >
        <div className="dialog-head">
          <div className="dialog-titles">
            <Radix.Title className="dialog-title">{title}</Radix.Title>
            {description === undefined ? null : <Radix.Description className="dialog-description">{description}</Radix.Description>}
          </div>
          <Radix.Close asChild>
            <IconButton size="small" label={dialogText.close} icon={<X />} />
          </Radix.Close>
        </div>
        {children}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
)

export interface ConfirmProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  /** The name of the action, such as "Delete workspace". */
  readonly action: string
  /** What cannot be undone is red. */
  readonly isDangerous?: boolean
  /** The name that the user has to type first. */
  readonly typedName?: string | undefined
  /** Does it. A refusal is shown in the dialog; otherwise the dialog closes. */
  readonly onConfirm: () => Promise<unknown>
  readonly children?: ReactNode
}

export const ConfirmDialog = ({ isOpen, onClose, title, description, ...rest }: ConfirmProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={title} description={description}>
    <Confirmation onClose={onClose} {...rest} />
  </Dialog>
)

const Confirmation = ({
  action,
  children,
  isDangerous = false,
  onClose,
  onConfirm,
  typedName
}: Omit<ConfirmProps, "isOpen" | "title" | "description">) => {
  const [typed, setTyped] = useState("")
  const [isBusy, setBusy] = useState(false)
  return (
    <Form
      onSubmit={async () => {
        setBusy(true)
        try {
          await onConfirm()
          onClose()
        } finally {
          setBusy(false)
        }
      }}
    >
      {children}
      {typedName === undefined ? null : (
        <Field label={dialogText.typeToConfirm(typedName)}>
          <Input value={typed} onChange={(event) => setTyped(event.target.value)} spellCheck={false} autoFocus />
        </Field>
      )}
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <Button
          type="submit"
          kind={isDangerous ? "danger" : "primary"}
          isBusy={isBusy}
          disabled={typedName !== undefined && typed !== typedName}
          autoFocus={typedName === undefined}
        >
          {action}
        </Button>
      </FormActions>
    </Form>
  )
}
