/** What has how much, longest first: a table with a bar in each row. */
import type { ReactNode } from "react"
import type { Tone } from "../page/tone.js"
import "./Chart.css"

export interface Bar {
  readonly key: string
  readonly name: ReactNode
  readonly value: number
  /** The value as it is written. */
  readonly text: ReactNode
  readonly tone?: Tone
}

interface Props {
  readonly label: string
  readonly bars: ReadonlyArray<Bar>
}

export const BarList = ({ bars, label }: Props) => {
  const most = Math.max(0, ...bars.map(({ value }) => value))
  return (
    <table className="bar-list">
      <caption className="visually-hidden">{label}</caption>
      <tbody>
        {bars.map(({ key, name, text, tone = "accent", value }) => (
          <tr key={key}>
            <th scope="row">
              <span className="bar-list-name">{name}</span>
            </th>
            <td>
              <span
                className={`bar-list-bar ${tone === "accent" ? "" : `bar-list-${tone}`}`}
                style={{ width: `${most === 0 ? 0 : (100 * value) / most}%` }}
              />
            </td>
            <td className="bar-list-value">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
