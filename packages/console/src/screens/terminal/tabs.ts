/** The terminals that are open in a window: what the tabs show, and how they change. */

export interface TerminalTab {
  /** The UUID that leads to the same shell again. */
  readonly id: string
  /** The agent's name: another build of the workspace has another id. */
  readonly agent: string
  /** The smallest that no other tab had when it was opened. */
  readonly number: number
  /** What the user called it. */
  readonly name?: string
  /** The slug of the app whose command runs in it, in place of a shell. */
  readonly app?: string
  /** Whether there may be something to see from before. */
  readonly isKnown?: boolean
}

export interface Tabs {
  readonly all: ReadonlyArray<TerminalTab>
  /** The id of the tab that is shown. */
  readonly shown: string | undefined
}

export const noTabs: Tabs = { all: [], shown: undefined }

/** The service limits the streams of one caller, and a user finds no tab among more. */
export const maximumTabs = 16

const maximumName = 64

/** A random UUID (RFC 9562 §5.4). `crypto.randomUUID` is there only for pages that came by TLS. */
export const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes.set([((bytes[6] ?? 0) & 0x0f) | 0x40], 6)
  bytes.set([((bytes[8] ?? 0) & 0x3f) | 0x80], 8)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

const freeNumber = (all: ReadonlyArray<TerminalTab>): number => {
  const taken = new Set(all.map(({ number }) => number))
  let number = 1
  while (taken.has(number)) number += 1
  return number
}

/** Opens a tab at the end, and shows it. */
export const added = ({ all, shown }: Tabs, tab: Pick<TerminalTab, "agent" | "app">, id = newId()): Tabs =>
  all.length >= maximumTabs ? { all, shown } : { all: [...all, { ...tab, id, number: freeNumber(all) }], shown: id }

/** Closes a tab; the one after it is shown, or the one before. */
export const closed = ({ all, shown }: Tabs, id: string): Tabs => {
  const at = all.findIndex((tab) => tab.id === id)
  if (at === -1) return { all, shown }
  const left = all.toSpliced(at, 1)
  return { all: left, shown: shown === id ? (left[at] ?? left[at - 1])?.id : shown }
}

/** Brings a tab back that was closed. */
export const reopened = ({ all, shown }: Tabs, tab: TerminalTab, at: number): Tabs =>
  all.some(({ id }) => id === tab.id) || all.length >= maximumTabs
    ? { all, shown }
    : { all: all.toSpliced(at, 0, { ...tab, isKnown: true }), shown: tab.id }

/** Moves a tab by a number of places. */
export const moved = ({ all, shown }: Tabs, id: string, by: number): Tabs => {
  const at = all.findIndex((tab) => tab.id === id)
  const tab = all[at]
  if (tab === undefined) return { all, shown }
  const to = Math.max(0, Math.min(all.length - 1, at + by))
  return { all: all.toSpliced(at, 1).toSpliced(to, 0, tab), shown }
}

/** Gives a tab a name; an empty one gives back its number. */
export const renamed = ({ all, shown }: Tabs, id: string, name: string): Tabs => {
  const text = shownText(name, maximumName)
  return {
    all: all.map((tab) => {
      if (tab.id !== id) return tab
      const { name: _, ...rest } = tab
      return text === "" ? rest : { ...rest, name: text }
    }),
    shown
  }
}

/** Gives a tab a new shell, in place of one that has ended. */
export const renewed = ({ all, shown }: Tabs, id: string, next = newId()): Tabs => ({
  all: all.map((tab) => (tab.id === id ? { ...tab, id: next, isKnown: false } : tab)),
  shown: shown === id ? next : shown
})

/** The tab that is so many places from the shown one, around the ends. */
export const beside = ({ all, shown }: Tabs, by: number): string | undefined => {
  const at = all.findIndex(({ id }) => id === shown)
  return all[(at + by + all.length) % Math.max(1, all.length)]?.id
}

// Control characters, and those that change the direction of text
const invisible = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** A text that a program or a user gave, as a tab shows it. */
export const shownText = (text: string, maximum: number): string => {
  const clean = text.replaceAll(invisible, "").trim()
  return clean.length > maximum ? `${clean.slice(0, maximum - 1)}…` : clean
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const isTab = (value: unknown): value is TerminalTab =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  uuid.test(value.id) &&
  "agent" in value &&
  typeof value.agent === "string" &&
  "number" in value &&
  Number.isSafeInteger(value.number) &&
  (!("name" in value) || typeof value.name === "string") &&
  (!("app" in value) || typeof value.app === "string")

/** Reads what was written of the tabs. Their shells may still be there. */
export const readTabs = (written: string | null): Tabs => {
  if (written === null) return noTabs
  try {
    const { all, shown }: { readonly all?: unknown; readonly shown?: unknown } = JSON.parse(written)
    const known = Array.isArray(all) ? all.filter(isTab).slice(0, maximumTabs) : []
    const tabs = known.map((tab) => ({ ...tab, isKnown: true }))
    return { all: tabs, shown: (tabs.find(({ id }) => id === shown) ?? tabs[0])?.id }
  } catch {
    return noTabs
  }
}
