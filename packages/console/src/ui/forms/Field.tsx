import { Eye, EyeOff } from "lucide-react"
import { type ComponentProps, createContext, type ReactNode, use, useId, useState } from "react"
import { IconButton } from "./Button.js"
import { useFieldError } from "./Form.js"
import { fieldText } from "../../texts/ui.js"
import "./Field.css"

interface Described {
  readonly id: string
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
  readonly name: string | undefined
}

const FieldContext = createContext<Described | undefined>(undefined)

/** What a control of a field has to carry. */
export const useField = () => {
  const field = use(FieldContext)
  return {
    id: field?.id,
    name: field?.name,
    "aria-describedby": field?.describedBy,
    "aria-invalid": field?.isInvalid === true ? true : undefined
  } as const
}

export interface FieldProps {
  readonly label: ReactNode
  /** The name of the field in the request's body: refusals of the server that name it are shown here. */
  readonly name?: string | undefined
  readonly hint?: ReactNode
  readonly error?: ReactNode
  readonly isOptional?: boolean | undefined
  readonly children: ReactNode
  /** Beside the label, such as a link. */
  readonly aside?: ReactNode
}

/** A control with its label, its hint and what is wrong with it. */
export const Field = ({ aside, children, error, hint, isOptional = false, label, name }: FieldProps) => {
  const id = useId()
  const refused = useFieldError(name)
  const shown = error ?? refused
  const hasError = shown !== undefined && shown !== null && shown !== ""
  const describedBy = [hint === undefined ? "" : `${id}-hint`, hasError ? `${id}-error` : ""].filter((each) => each !== "").join(" ")
  return (
    <FieldContext value={{ id, describedBy: describedBy === "" ? undefined : describedBy, isInvalid: hasError, name }}>
      <div className="field" data-invalid={hasError || undefined}>
        <div className="field-head">
          <label className="field-label" htmlFor={id}>
            {label}
            {isOptional ? <span className="field-optional"> {fieldText.optional}</span> : null}
          </label>
          {aside}
        </div>
        {children}
        {hint === undefined ? null : (
          <div className="field-hint" id={`${id}-hint`}>
            {hint}
          </div>
        )}
        {hasError ? (
          <div className="field-error" id={`${id}-error`} role="alert">
            {shown}
          </div>
        ) : null}
      </div>
    </FieldContext>
  )
}

export const Input = ({ className, ...rest }: ComponentProps<"input">) => (
  <input className={`input ${className ?? ""}`} autoComplete="off" {...useField()} {...rest} />
)

/** A secret, which the user may look at. */
export const SecretInput = ({ className, ...rest }: Omit<ComponentProps<"input">, "type">) => {
  const [isShown, setShown] = useState(false)
  return (
    <div className="input-group">
      <Input type={isShown ? "text" : "password"} className={className} {...rest} />
      <IconButton
        size="small"
        className="input-aside"
        label={isShown ? fieldText.hide : fieldText.show}
        icon={isShown ? <EyeOff /> : <Eye />}
        onClick={() => setShown(!isShown)}
      />
    </div>
  )
}

export const TextArea = ({ className, ...rest }: ComponentProps<"textarea">) => (
  <textarea className={`input textarea ${className ?? ""}`} rows={4} {...useField()} {...rest} />
)

export interface Choice {
  readonly value: string
  readonly label: string
  readonly disabled?: boolean | undefined
}

/** One of few. The platform's own list, which works with every keyboard and on phones. */
export const Select = ({ choices, className, ...rest }: ComponentProps<"select"> & { readonly choices: ReadonlyArray<Choice> }) => (
  <select className={`input select ${className ?? ""}`} {...useField()} {...rest}>
    {choices.map(({ disabled, label, value }) => (
      <option key={value} value={value} disabled={disabled}>
        {label}
      </option>
    ))}
  </select>
)

export interface CheckProps extends Omit<ComponentProps<"input">, "type"> {
  readonly label: ReactNode
  readonly hint?: ReactNode
}

/** A box has a label of its own: of the field around it, it takes only what is wrong with it. */
const useDescription = () => {
  const { "aria-describedby": describedBy, "aria-invalid": isInvalid } = useField()
  return { "aria-describedby": describedBy, "aria-invalid": isInvalid } as const
}

export const Checkbox = ({ className, hint, label, ...rest }: CheckProps) => (
  <label className={`check ${className ?? ""}`}>
    <input type="checkbox" {...useDescription()} {...rest} />
    <span>
      <span className="check-label">{label}</span>
      {hint === undefined ? null : <span className="field-hint">{hint}</span>}
    </span>
  </label>
)

/** A setting that applies at once. */
export const Switch = ({ className, hint, label, ...rest }: CheckProps) => (
  <label className={`check ${className ?? ""}`}>
    <input type="checkbox" role="switch" className="switch" {...useDescription()} {...rest} />
    <span>
      <span className="check-label">{label}</span>
      {hint === undefined ? null : <span className="field-hint">{hint}</span>}
    </span>
  </label>
)
