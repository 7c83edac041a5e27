/** The filter of a list, which is part of the address: a link leads to the same rows, and the back button to the ones before. */
import { useNavigate, useSearch } from "@tanstack/react-router"

export interface FilterSearch {
  readonly filter?: string
}

/** The `validateSearch` of a route whose screen has a filter. */
export const filterSearch = ({ filter }: Readonly<Record<string, unknown>>): FilterSearch =>
  typeof filter === "string" && filter !== "" ? { filter } : {}

/** The filter of the screen's address, empty where it has none, and what sets it. */
export const useFilter = (): readonly [filter: string, setFilter: (next: string) => void] => {
  const { filter = "" }: FilterSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const setFilter = (next: string): void =>
    void navigate({
      to: ".",
      search: (before: FilterSearch) => ({ ...before, filter: next === "" ? undefined : next }),
      replace: true
    })
  return [filter, setFilter]
}
