import "./DayChoice.css"

interface Props {
  readonly label: string
  readonly days: ReadonlyArray<{ readonly value: string; readonly label: string }>
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (chosen: ReadonlyArray<string>) => void
  readonly isDisabled?: boolean
}

/** Some days of the week, in the week's order. */
export const DayChoice = ({ chosen, days, isDisabled = false, label, onChange }: Props) => (
  <div className="days" role="group" aria-label={label}>
    {days.map(({ label, value }) => (
      <button
        key={value}
        type="button"
        className="day"
        aria-pressed={chosen.includes(value)}
        disabled={isDisabled}
        onClick={() =>
          onChange(days.map((day) => day.value).filter((each) => (each === value ? !chosen.includes(each) : chosen.includes(each))))
        }
      >
        {label}
      </button>
    ))}
  </div>
)
