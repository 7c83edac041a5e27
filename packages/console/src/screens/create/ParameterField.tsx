/** One parameter of a template, as the control that its author chose. */
import type { PreviewParameter } from "@atelier/client"
import { X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { createText } from "../../texts/create.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { Callout } from "../../ui/page/Callout.js"
import { Combobox, MultiCombobox } from "../../ui/forms/Combobox.js"
import { Checkbox, Field, Input, SecretInput, Switch, TextArea, useField } from "../../ui/forms/Field.js"
import "./ParameterField.css"

interface Props {
  readonly parameter: PreviewParameter
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isDisabled?: boolean
  /** The user has given a value: before, nothing is said of one that is missing. */
  readonly isTouched?: boolean
}

/** A list as it is written in a value; empty for anything else. */
const listOf = (value: string): ReadonlyArray<string> => {
  try {
    const list: unknown = JSON.parse(value)
    return Array.isArray(list) ? list.map(String) : []
  } catch {
    return []
  }
}

export const ParameterField = (props: Props) => {
  const { isTouched = true, parameter } = props
  const { description, diagnostics, display_name, form_type, name, required } = parameter
  const errors = (diagnostics ?? []).filter(({ extra, severity }) => severity === "error" && (isTouched || extra?.code !== "required"))
  const warnings = (diagnostics ?? []).filter(({ severity }) => severity === "warning")
  const said = (list: PreviewParameter["diagnostics"]) =>
    list.map(({ detail, summary }) => (detail === "" || detail === summary ? summary : `${summary}: ${detail}`)).join(" ")
  if (form_type === "error") {
    return (
      <Callout kind="error" title={display_name || name}>
        {said(diagnostics)}
      </Callout>
    )
  }
  const isSwitch = form_type === "checkbox" || form_type === "switch"
  // A switch shows its description itself
  const hint = [isSwitch ? "" : description, warnings.length > 0 ? said(warnings) : ""].filter((each) => each !== "").join("\n")
  return (
    <Field
      label={isSwitch ? <span className="visually-hidden">{display_name || name}</span> : <Title parameter={parameter} />}
      name={name}
      hint={hint === "" ? undefined : <span className="param-hint">{hint}</span>}
      error={errors.length > 0 ? said(errors) : undefined}
      isOptional={!required && !isSwitch && parameter.default_value.value === ""}
      aside={isSwitch ? undefined : <Marks parameter={parameter} />}
    >
      <Control {...props} />
    </Field>
  )
}

const Marks = ({ parameter: { ephemeral, mutable } }: Pick<Props, "parameter">) => (
  <span className="param-marks">
    {mutable ? null : <Badge>{createText.immutable}</Badge>}
    {ephemeral ? <Badge tone="blue">{createText.ephemeral}</Badge> : null}
  </span>
)

const Title = ({ parameter: { display_name, icon, name } }: Pick<Props, "parameter">) => (
  <span className="param-title">
    {icon === "" ? null : <Avatar name={display_name || name} src={icon} size={16} isThing />}
    {display_name || name}
  </span>
)

const Control = ({ isDisabled = false, onChange, parameter, value }: Props) => {
  const { description, display_name, form_type, name, options, styling, type, validations } = parameter
  const disabled = isDisabled || styling?.disabled === true
  const label = display_name || name
  const placeholder = styling?.placeholder
  const choices = (options ?? []).map((option) => ({
    value: option.value.value,
    label: option.name,
    hint: option.description === "" ? undefined : option.description,
    icon: option.icon === "" ? undefined : <Avatar name={option.name} src={option.icon} size={16} isThing />
  }))
  const minimum = validations?.find(({ validation_min }) => validation_min !== null)?.validation_min ?? undefined
  const maximum = validations?.find(({ validation_max }) => validation_max !== null)?.validation_max ?? undefined
  switch (form_type) {
    case "textarea":
      return (
        <TextArea value={value} placeholder={placeholder} disabled={disabled} rows={5} onChange={(event) => onChange(event.target.value)} />
      )
    case "checkbox":
    case "switch": {
      const Box = form_type === "switch" ? Switch : Checkbox
      return (
        <Box
          label={
            <span className="param-title">
              {styling?.label ?? <Title parameter={parameter} />}
              <Marks parameter={parameter} />
            </span>
          }
          hint={description === "" ? undefined : description}
          checked={value === "true"}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked ? "true" : "false")}
        />
      )
    }
    case "radio":
      return <Radios name={name} label={label} choices={choices} value={value} isDisabled={disabled} onChange={onChange} />
    case "slider":
      return <Slider value={value} minimum={minimum ?? 0} maximum={maximum ?? 100} isDisabled={disabled} onChange={onChange} />
    case "dropdown":
      return (
        <Combobox
          label={label}
          choices={choices}
          value={value === "" ? undefined : value}
          isDisabled={disabled}
          onChange={onChange}
          {...(placeholder === undefined ? {} : { placeholder })}
        />
      )
    case "multi-select":
      return (
        <MultiCombobox
          label={label}
          choices={choices}
          values={listOf(value)}
          isDisabled={disabled}
          onChange={(next) => onChange(JSON.stringify(next))}
        />
      )
    case "tag-select":
      return <Tags values={listOf(value)} isDisabled={disabled} onChange={(next) => onChange(JSON.stringify(next))} />
    default:
      if (styling?.mask_input === true) {
        return (
          <SecretInput
            value={value}
            placeholder={placeholder}
            disabled={disabled}
            autoComplete="new-password"
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
      return (
        <Input
          type={type === "number" ? "number" : "text"}
          value={value}
          placeholder={placeholder}
          disabled={disabled}
          min={minimum}
          max={maximum}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )
  }
}

interface RadiosProps {
  readonly name: string
  readonly label: string
  readonly choices: ReadonlyArray<{
    readonly value: string
    readonly label: string
    readonly hint?: string | undefined
    readonly icon?: ReactNode
  }>
  readonly value: string
  readonly isDisabled: boolean
  readonly onChange: (value: string) => void
}

const Radios = ({ choices, isDisabled, label, name, onChange, value }: RadiosProps) => {
  const { id, ...field } = useField()
  return (
    <div className="param-radios" role="radiogroup" aria-label={label} aria-describedby={field["aria-describedby"]}>
      {choices.map((choice, index) => (
        <label key={choice.value} className="check param-radio" data-checked={choice.value === value || undefined}>
          <input
            type="radio"
            id={index === 0 ? id : undefined}
            name={`parameter ${name}`}
            checked={choice.value === value}
            disabled={isDisabled}
            onChange={() => onChange(choice.value)}
          />
          {choice.icon}
          <span>
            <span className="check-label">{choice.label}</span>
            {choice.hint === undefined ? null : <span className="field-hint">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </div>
  )
}

interface SliderProps {
  readonly value: string
  readonly minimum: number
  readonly maximum: number
  readonly isDisabled: boolean
  readonly onChange: (value: string) => void
}

const Slider = ({ isDisabled, maximum, minimum, onChange, value }: SliderProps) => (
  <div className="param-slider">
    <input
      type="range"
      {...useField()}
      min={minimum}
      max={maximum}
      value={value === "" ? minimum : Number(value)}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.value)}
    />
    <output className="mono">{value === "" ? minimum : value}</output>
  </div>
)

interface TagsProps {
  readonly values: ReadonlyArray<string>
  readonly isDisabled: boolean
  readonly onChange: (values: ReadonlyArray<string>) => void
}

const Tags = ({ isDisabled, onChange, values }: TagsProps) => {
  const [typed, setTyped] = useState("")
  const add = (): void => {
    const tag = typed.trim()
    setTyped("")
    if (tag !== "" && !values.includes(tag)) onChange([...values, tag])
  }
  return (
    <div className="input combobox-many param-tags">
      {values.map((tag) => (
        <span key={tag} className="chip">
          <span className="truncate">{tag}</span>
          <button
            type="button"
            aria-label={createText.remove(tag)}
            disabled={isDisabled}
            onClick={() => onChange(values.filter((each) => each !== tag))}
          >
            <X aria-hidden />
          </button>
        </span>
      ))}
      <input
        className="param-tag-input"
        {...useField()}
        value={typed}
        placeholder={createText.add}
        disabled={isDisabled}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === "Enter" || event.key === ",") {
            event.preventDefault()
            add()
          } else if (event.key === "Backspace" && typed === "") onChange(values.slice(0, -1))
        }}
      />
    </div>
  )
}
