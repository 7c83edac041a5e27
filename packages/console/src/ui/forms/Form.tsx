import type { AtelierError, Validation } from "@atelier/client"
import { type ComponentProps, createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { asAtelierError } from "../../app/client.js"
import { signIn } from "../../app/sessionEnd.js"
import { sending } from "../../app/unsaved.js"
import { Button, type ButtonProps } from "./Button.js"
import { Callout } from "../page/Callout.js"
import "./Form.css"

interface FormState {
  readonly error: AtelierError | undefined
  readonly isBusy: boolean
  /** Notes that a field shows the refusal of this name, until the field calls what this returns. */
  readonly claim: (name: string) => () => void
}

const FormContext = createContext<FormState | undefined>(undefined)

const refusalOf = (validations: ReadonlyArray<Validation>, name: string): string | undefined => {
  const details = validations.filter(({ field }) => field === name).map(({ detail }) => detail)
  return details.length === 0 ? undefined : details.join(" ")
}

/** What the server refused of a field. */
export const useFieldError = (name: string | undefined): string | undefined => {
  const form = use(FormContext)
  const claim = form?.claim
  useEffect(() => (name === undefined ? undefined : claim?.(name)), [claim, name])
  if (name === undefined || form === undefined) return undefined
  return refusalOf(form.error?.validations ?? [], name)
}

export interface FormProps extends Omit<ComponentProps<"form">, "onSubmit" | "children"> {
  /** Sends the form. A refusal is shown: at the fields that it names, the rest on top. */
  readonly onSubmit: (form: FormData) => Promise<unknown>
  readonly children: ReactNode
}

/** A form whose rules are the server's: the `validations` of a refusal go to the fields of these names. */
export const Form = ({ children, className, onSubmit, ...rest }: FormProps) => {
  const [error, setError] = useState<AtelierError | undefined>()
  const [isBusy, setBusy] = useState(false)
  const [claimed, setClaimed] = useState<ReadonlyArray<string>>([])
  const claim = useCallback((name: string) => {
    setClaimed((before) => [...before, name])
    return () => setClaimed((before) => before.toSpliced(before.indexOf(name), 1))
  }, [])
  const form = useRef<HTMLFormElement>(null)

  const submit = async (): Promise<void> => {
    const element = form.current
    if (element === null || isBusy) return
    const noteSent = sending(element)
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(new FormData(element))
      noteSent()
    } catch (refusal) {
      const known = asAtelierError(refusal)
      if (known.status === 401) signIn()
      flushSync(() => setError(known))
      element.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    } finally {
      setBusy(false)
    }
  }

  const others = error?.validations.filter(({ field }) => !claimed.includes(field)) ?? []
  const isSaidByFields = error !== undefined && error.validations.length > 0 && others.length === 0
  return (
    <FormContext value={{ error, isBusy, claim }}>
      <form
        ref={form}
        noValidate
        className={`form ${className ?? ""}`}
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          void submit()
        }}
        {...rest}
      >
        {error === undefined || isSaidByFields ? null : (
          <Callout kind="error" title={error.message}>
            {error.detail}
            {others.map(({ detail, field }) => (
              <div key={`${field} ${detail}`}>
                {field}: {detail}
              </div>
            ))}
          </Callout>
        )}
        {children}
      </form>
    </FormContext>
  )
}

/** The button that sends the form around it: it turns while the form is being sent. */
export const SubmitButton = ({ kind = "primary", ...rest }: Omit<ButtonProps, "type" | "isBusy">) => (
  <Button type="submit" kind={kind} isBusy={use(FormContext)?.isBusy} {...rest} />
)

/** The buttons at the end of a form. */
export const FormActions = ({ children }: { readonly children: ReactNode }) => <div className="form-actions">{children}</div>
