/** Filters that are often wanted, as buttons. */
import { viewsText } from "../../texts/ui.js"
import "./Views.css"

export interface View {
  readonly label: string
  /** Undefined for the filter of an address without one. */
  readonly filter: string | undefined
}

interface Props {
  readonly views: ReadonlyArray<View>
  readonly filter: string | undefined
  readonly onChoose: (filter: string | undefined) => void
}

export const Views = ({ filter, onChoose, views }: Props) => (
  <div className="views" role="group" aria-label={viewsText.label}>
    {views.map((view) => (
      <button key={view.label} type="button" className="view" aria-pressed={filter === view.filter} onClick={() => onChoose(view.filter)}>
        {view.label}
      </button>
    ))}
  </div>
)
