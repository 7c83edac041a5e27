/** Sets of weekdays: a bitmap where they are stored and computed with, names on the wire. templates-and-provisioning.md §2.1. */
import { Schema } from "effect"

export const Weekday = Schema.Literal("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
export type Weekday = typeof Weekday.Type

/** Bit 0 is Monday, bit 6 Sunday; bit 7 is never set. */
export type DaysOfWeek = number

export const noDay: DaysOfWeek = 0

const allDays: DaysOfWeek = 0b111_1111

const weekdays: ReadonlyArray<Weekday> = Weekday.literals

/** The names from Monday to Sunday. */
export const weekdaysOf = (days: DaysOfWeek): ReadonlyArray<Weekday> => weekdays.filter((_, index) => (days & (1 << index)) !== 0)

/** The set of these names in any case, or the first that is not a weekday. */
export const daysOf = (names: ReadonlyArray<string>): { readonly days: DaysOfWeek } | { readonly unknown: string } => {
  let days = noDay
  for (const name of names) {
    const index = weekdays.findIndex((weekday) => weekday === name.toLowerCase())
    if (index < 0) return { unknown: name }
    days |= 1 << index
  }
  return { days }
}

/** The days that are not in the set. */
export const otherDays = (days: DaysOfWeek): DaysOfWeek => allDays & ~days
