/** Asks before something is left that would be lost. */
import { useBlocker } from "@tanstack/react-router"
import { filesText } from "../../texts/files.js"
import { Button } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { FormActions } from "../../ui/forms/Form.js"

export interface Address {
  readonly pathname: string
  readonly search: unknown
}

interface Props {
  /** Whether there is something to lose. */
  readonly isNeeded: boolean
  /** Whether it is lost on the way from one address to another one. */
  readonly isLeft: (current: Address, next: Address) => boolean
  readonly title: string
  readonly hint: string
}

export const LeaveGuard = ({ hint, isLeft, isNeeded, title }: Props) => {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isNeeded && isLeft(current, next),
    enableBeforeUnload: isNeeded,
    withResolver: true
  })
  return (
    <Dialog isOpen={blocker.status === "blocked"} onClose={() => blocker.reset?.()} title={title} description={hint}>
      <FormActions>
        <Button onClick={() => blocker.reset?.()}>{filesText.stay}</Button>
        <Button kind="danger" onClick={() => blocker.proceed?.()}>
          {filesText.leave}
        </Button>
      </FormActions>
    </Dialog>
  )
}
