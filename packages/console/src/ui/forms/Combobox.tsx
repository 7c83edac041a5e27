import { Command } from "cmdk"
import { Check, ChevronsUpDown, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { comboboxText } from "../../texts/ui.js"
import { useField } from "./Field.js"
import { Popover } from "../floating/Popover.js"
import "./Combobox.css"

export interface ComboboxChoice {
  readonly value: string
  readonly label: string
  readonly hint?: ReactNode
  readonly icon?: ReactNode
  /** Further words that find it. */
  readonly keywords?: ReadonlyArray<string>
}

interface Shared {
  readonly choices: ReadonlyArray<ComboboxChoice>
  readonly label: string
  readonly placeholder?: string
  readonly isDisabled?: boolean
  /** Asks the server for choices as the user types; without it the choices are filtered here. */
  readonly onSearch?: (text: string) => void
  readonly isLoading?: boolean
}

interface OneProps extends Shared {
  readonly value: string | undefined
  readonly onChange: (value: string) => void
}

/** One of many, found by typing. */
export const Combobox = ({ onChange, value, ...shared }: OneProps) => {
  const [isOpen, setOpen] = useState(false)
  const chosen = shared.choices.find((choice) => choice.value === value)
  return (
    <ChoiceField
      {...shared}
      isOpen={isOpen}
      onOpenChange={setOpen}
      chosen={value === undefined ? [] : [value]}
      onChoose={(next) => {
        onChange(next)
        setOpen(false)
      }}
    >
      {chosen?.icon}
      <span className={`truncate combobox-value ${chosen === undefined ? "faint" : ""}`}>
        {chosen?.label ?? value ?? shared.placeholder ?? comboboxText.choose}
      </span>
    </ChoiceField>
  )
}

interface ManyProps extends Shared {
  readonly values: ReadonlyArray<string>
  readonly onChange: (values: ReadonlyArray<string>) => void
}

/** Some of many. */
export const MultiCombobox = ({ onChange, values, ...shared }: ManyProps) => {
  const [isOpen, setOpen] = useState(false)
  const labelOf = (value: string): string => shared.choices.find((choice) => choice.value === value)?.label ?? value
  const without = (value: string): ReadonlyArray<string> => values.filter((other) => other !== value)
  return (
    <ChoiceField
      {...shared}
      className="combobox-many"
      isOpen={isOpen}
      onOpenChange={setOpen}
      chosen={values}
      onChoose={(value) => onChange(values.includes(value) ? without(value) : [...values, value])}
    >
      {values.length === 0 ? <span className="faint combobox-value">{shared.placeholder ?? comboboxText.choose}</span> : null}
      {values.map((value) => (
        <span key={value} className="chip">
          <span className="truncate">{labelOf(value)}</span>
          <X
            aria-hidden
            onClick={(event) => {
              event.stopPropagation()
              onChange(without(value))
            }}
          />
        </span>
      ))}
    </ChoiceField>
  )
}

interface FieldProps extends ChoicesProps {
  readonly className?: string
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  /** What is chosen, as the field shows it. */
  readonly children: ReactNode
}

/** A field that opens a list of choices. */
const ChoiceField = ({ children, className = "", isDisabled = false, isOpen, onOpenChange, ...choices }: FieldProps) => {
  const field = useField()
  return (
    <Popover
      isFitted
      align="start"
      label={choices.label}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      trigger={
        <button
          type="button"
          className={`input combobox ${className}`}
          role="combobox"
          aria-expanded={isOpen}
          aria-label={choices.label}
          disabled={isDisabled}
          {...field}
        >
          {children}
          <ChevronsUpDown aria-hidden />
        </button>
      }
    >
      <Choices {...choices} />
    </Popover>
  )
}

interface ChoicesProps extends Shared {
  readonly chosen: ReadonlyArray<string>
  readonly onChoose: (value: string) => void
}

const Choices = ({ choices, chosen, isLoading = false, label, onChoose, onSearch }: ChoicesProps) => (
  <Command label={label} shouldFilter={onSearch === undefined} className="choices">
    <Command.Input
      className="choices-input"
      placeholder={comboboxText.search}
      {...(onSearch === undefined ? {} : { onValueChange: onSearch })}
    />
    <Command.List className="choices-list">
      {isLoading ? <Command.Loading>…</Command.Loading> : <Command.Empty className="choices-empty">{comboboxText.nothing}</Command.Empty>}
      {choices.map(({ hint, icon, keywords = [], label, value }) => (
        <Command.Item key={value} value={value} keywords={[label, ...keywords]} className="choice" onSelect={() => onChoose(value)}>
          {icon}
          <span className="choice-label">
            <span className="truncate">{label}</span>
            {hint === undefined ? null : <span className="choice-hint">{hint}</span>}
          </span>
          {chosen.includes(value) ? <Check className="choice-check" aria-hidden /> : null}
        </Command.Item>
      ))}
    </Command.List>
  </Command>
)
