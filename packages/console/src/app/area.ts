/** What an area of the console adds to the frame. README.md, "Add an area". */
import type { LucideIcon } from "lucide-react"
import type { LinkProps } from "@tanstack/react-router"
import type { Check } from "./check.js"

/** An entry of the sidebar. */
export interface Destination {
  readonly label: string
  readonly icon: LucideIcon
  readonly link: LinkProps
  /** Whether a path of the console is in this place; default all below the link. */
  readonly isAt?: (path: string) => boolean
  /** The keys that lead there, such as `g w`. */
  readonly keys?: string
  /** Other words that the palette finds it by. */
  readonly keywords?: ReadonlyArray<string>
  /** The permission without which a user does not see the entry. */
  readonly needs?: Check
}

export interface NavigationGroup {
  /** Absent for the first group, which has no heading. */
  readonly label?: string
  readonly destinations: ReadonlyArray<Destination>
}

/** Something that the palette offers while it is open. */
export interface Command {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly group: string
  readonly icon?: LucideIcon
  readonly keywords?: ReadonlyArray<string>
  readonly keys?: string
  /** Where it leads, or what it does. */
  readonly link?: LinkProps
  readonly run?: () => void
}

/** The commands of an area: a hook, called while the palette is open with what the user typed. */
export type UseCommands = (typed: string) => ReadonlyArray<Command>
