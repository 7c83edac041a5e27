/** Texts of the service on a terminal. */

/** Characters that move the cursor or change the terminal; a line break is one of them. */
const controls = /\p{Cc}/gu

/** A text of others without the characters that control a terminal. */
export const plain = (text: string): string => text.replace(controls, " ")

/** What begins a sequence for the terminal. */
const escape = "\u001b["

/** The rest of a sequence that sets colours alone. */
const colour = /^[\d;]*m/

const uncontrolled = (text: string): string => text.replace(/\t/g, "    ").replace(controls, "")

/** A line of a log: its colours stay where colours are wanted, every other control character goes. */
export const logLine = (text: string, hasColours: boolean): string => {
  const [first = "", ...others] = text.split(escape)
  const kept = others.map((part) => {
    const code = colour.exec(part)?.[0]
    if (code === undefined) return { text: uncontrolled(escape + part), isColoured: false }
    const rest = uncontrolled(part.slice(code.length))
    return { text: hasColours ? escape + code + rest : rest, isColoured: hasColours }
  })
  const line = uncontrolled(first) + kept.map(({ text }) => text).join("")
  return kept.some(({ isColoured }) => isColoured) ? `${line}${escape}0m` : line
}

const steps: ReadonlyArray<readonly [string, number]> = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
]

/** A number with its unit, such as "1 entry" and "2 entries". */
export const counted = (unit: string, count: number, units: string = `${unit}s`): string => `${count} ${count === 1 ? unit : units}`

/** A length of time in its largest unit. */
export const lengthOf = (milliseconds: number): string => {
  const [unit, size] = steps.find(([, each]) => milliseconds >= each) ?? ["second", 1_000]
  return counted(unit, Math.floor(milliseconds / size))
}

/** Whether a time stands for none: that of users who were never seen, or that of tokens that were never used. */
const isNone = (time: string): boolean => time.startsWith("0001-") || Date.parse(time) === 0

/** A time as its distance from now. */
export const ago = (time: string | null | undefined, now: number = Date.now()): string => {
  if (time === null || time === undefined || isNone(time)) return "never"
  const far = now - Date.parse(time)
  if (Math.abs(far) < 10_000) return "now"
  if (far > 0) return `${lengthOf(far)} ago`
  // A deadline that was just set to five hours is not four hours away
  return `in ${lengthOf(-far < 60_000 ? -far : -far + 30_000)}`
}

/** Milliseconds as the flags take them: `1h30m`. */
export const durationText = (milliseconds: number): string => {
  const parts = [
    [Math.floor(milliseconds / 3_600_000), "h"],
    [Math.floor((milliseconds % 3_600_000) / 60_000), "m"],
    [Math.floor((milliseconds % 60_000) / 1_000), "s"]
  ] as const
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`)
  return shown.length === 0 ? "0s" : shown.join("")
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"]

/** A number of bytes in a unit that is easy to read. */
export const bytesText = (bytes: number): string => {
  const step = bytes < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** step
  return `${step === 0 ? value : value.toFixed(1)} ${sizes[step]}`
}
